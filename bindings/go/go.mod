module quoit

go 1.21
