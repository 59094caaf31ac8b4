module quoit/contrib/kueue

go 1.25.0

require quoit v0.1.0

replace quoit => ../../bindings/go
