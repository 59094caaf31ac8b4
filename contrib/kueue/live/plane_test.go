// SPDX-License-Identifier: Apache-2.0

package live

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
)

var ctx = context.Background()

// plane is a control plane in a private directory: etcd, kube-apiserver, kube-controller-manager, kube-scheduler and Kueue,
// all of them the real programs. There are no kubelets; kubelet() does their work.
type plane struct {
	directory string
	servers   string // the folder of the programs
	kueue     string // the folder of Kueue's module
	client    dynamic.Interface
	ports     map[string]int
	running   []*exec.Cmd
}

func freePort() (int, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	defer listener.Close()
	return listener.Addr().(*net.TCPAddr).Port, nil
}

// newCommand returns a command that ends with this process, and writes to a log file.
func (p *plane) newCommand(name, program string, arguments ...string) (*exec.Cmd, error) {
	log, err := os.OpenFile(p.file(name+".log"), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, err
	}
	command := exec.Command(program, arguments...)
	command.Stdout, command.Stderr = log, log
	command.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	return command, nil
}

func (p *plane) file(name string) string { return filepath.Join(p.directory, name) }

func (p *plane) start(name, program string, arguments ...string) error {
	command, err := p.newCommand(name, program, arguments...)
	if err != nil {
		return err
	}
	if err := command.Start(); err != nil {
		return err
	}
	p.running = append(p.running, command)
	return nil
}

func (p *plane) stop() {
	for index := len(p.running) - 1; index >= 0; index-- {
		p.running[index].Process.Kill()
		p.running[index].Wait()
	}
}

// kubectl runs kubectl as an administrator, and returns its output.
func (p *plane) kubectl(arguments ...string) ([]byte, error) {
	var out, failure bytes.Buffer
	command := exec.Command(p.servers+"/kubectl", append([]string{"--kubeconfig", p.file("admin.kubeconfig")}, arguments...)...)
	command.Stdout, command.Stderr = &out, &failure
	if err := command.Run(); err != nil {
		return nil, fmt.Errorf("kubectl %s: %w: %s", strings.Join(arguments, " "), err, failure.String())
	}
	return out.Bytes(), nil
}

// waitFor repeats a call until it succeeds.
func waitFor(limit time.Duration, call func() error) error {
	end := time.Now().Add(limit)
	for {
		err := call()
		if err == nil || time.Now().After(end) {
			return err
		}
		time.Sleep(100 * time.Millisecond)
	}
}

func startPlane(directory, servers, kueue string) (*plane, error) {
	p := &plane{directory: directory, servers: servers, kueue: kueue, ports: map[string]int{}}
	for _, name := range []string{"etcd", "peer", "api", "manager", "scheduler", "webhook", "health"} {
		port, err := freePort()
		if err != nil {
			return nil, err
		}
		p.ports[name] = port
	}
	for _, step := range []func() error{p.startKubernetes, p.startKueue, p.addQueues} {
		if err := step(); err != nil {
			p.stop()
			return nil, err
		}
	}
	return p, nil
}

// --- Kubernetes ---

func (p *plane) url(port string) string { return fmt.Sprintf("http://127.0.0.1:%d", p.ports[port]) }

func (p *plane) writeKubeconfig(name, token string) error {
	text := fmt.Sprintf(`{"apiVersion":"v1","kind":"Config","current-context":"x",
		"clusters":[{"name":"c","cluster":{"server":"https://127.0.0.1:%d","insecure-skip-tls-verify":true}}],
		"users":[{"name":"u","user":{"token":%q}}],"contexts":[{"name":"x","context":{"cluster":"c","user":"u"}}]}`,
		p.ports["api"], token)
	return os.WriteFile(p.file(name+".kubeconfig"), []byte(text), 0o600)
}

func (p *plane) startKubernetes() error {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		return err
	}
	pemKey := pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)})
	tokens := "admin-token,admin,admin,system:masters\n" +
		"quoit-token,system:serviceaccount:quoit-system:quoit-kueue,quoit,system:authenticated\n"
	for name, content := range map[string][]byte{"sa.key": pemKey, "tokens": []byte(tokens)} {
		if err := os.WriteFile(p.file(name), content, 0o600); err != nil {
			return err
		}
	}
	for name, token := range map[string]string{"admin": "admin-token", "quoit": "quoit-token"} {
		if err := p.writeKubeconfig(name, token); err != nil {
			return err
		}
	}
	err = p.start("etcd", p.servers+"/etcd", "--data-dir", p.file("etcd"), "--unsafe-no-fsync",
		"--listen-client-urls", p.url("etcd"), "--advertise-client-urls", p.url("etcd"), "--listen-peer-urls", p.url("peer"),
		"--initial-advertise-peer-urls", p.url("peer"), "--initial-cluster", "default="+p.url("peer"))
	if err != nil {
		return err
	}
	err = p.start("kube-apiserver", p.servers+"/kube-apiserver", "--etcd-servers", p.url("etcd"), "--bind-address=127.0.0.1",
		"--advertise-address=127.0.0.1", fmt.Sprintf("--secure-port=%d", p.ports["api"]), "--cert-dir", p.file("certs"),
		"--token-auth-file", p.file("tokens"), "--service-account-issuer=https://quoit.test", "--service-account-key-file",
		p.file("sa.key"), "--service-account-signing-key-file", p.file("sa.key"), "--authorization-mode=RBAC",
		"--service-cluster-ip-range=10.0.0.0/24", "--disable-admission-plugins=ServiceAccount")
	if err != nil {
		return err
	}
	config := &rest.Config{Host: fmt.Sprintf("https://127.0.0.1:%d", p.ports["api"]), BearerToken: "admin-token",
		TLSClientConfig: rest.TLSClientConfig{Insecure: true}, QPS: 500, Burst: 500}
	if p.client, err = dynamic.NewForConfig(config); err != nil {
		return err
	}
	err = waitFor(90*time.Second, func() error {
		_, err := p.client.Resource(namespaces).Get(ctx, "default", metav1.GetOptions{})
		return err
	})
	if err != nil {
		return err
	}
	err = p.start("kube-scheduler", p.servers+"/kube-scheduler", "--kubeconfig", p.file("admin.kubeconfig"), "--leader-elect=false",
		"--bind-address=127.0.0.1", fmt.Sprintf("--secure-port=%d", p.ports["scheduler"]), "--cert-dir", p.file("certs"))
	if err != nil {
		return err
	}
	return p.start("kube-controller-manager", p.servers+"/kube-controller-manager", "--kubeconfig", p.file("admin.kubeconfig"),
		"--leader-elect=false", "--controllers=job-controller,garbage-collector-controller,namespace-controller",
		"--bind-address=127.0.0.1", fmt.Sprintf("--secure-port=%d", p.ports["manager"]), "--cert-dir", p.file("certs"))
}

// --- Kueue ---

// writeCertificate makes a certificate for 127.0.0.1, and returns it as PEM.
func (p *plane) writeCertificate(folder string) ([]byte, error) {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		return nil, err
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "127.0.0.1"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour), IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		return nil, err
	}
	certificate := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return nil, err
	}
	if err := os.WriteFile(folder+"/tls.crt", certificate, 0o600); err != nil {
		return nil, err
	}
	pemKey := pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)})
	return certificate, os.WriteFile(folder+"/tls.key", pemKey, 0o600)
}

func (p *plane) startKueue() error {
	certificate, err := p.writeCertificate(p.file("kueue-certs"))
	if err != nil {
		return err
	}
	if _, err := p.kubectl("create", "namespace", "kueue-system"); err != nil {
		return err
	}
	if _, err := p.kubectl("apply", "--server-side", "-f", p.kueue+"/config/components/crd/bases"); err != nil {
		return err
	}
	if _, err := p.kubectl("wait", "--for=condition=Established", "--all", "--timeout=60s", "crd"); err != nil {
		return err
	}
	configuration := fmt.Sprintf(`{"apiVersion":"config.kueue.x-k8s.io/v1beta2","kind":"Configuration","namespace":"kueue-system",
		"health":{"healthProbeBindAddress":"127.0.0.1:%d"},"metrics":{"bindAddress":"0"},
		"webhook":{"host":"127.0.0.1","port":%d,"certDir":%q},"leaderElection":{"leaderElect":false},
		"internalCertManagement":{"enable":false},"integrations":{"frameworks":["batch/job"]}}`,
		p.ports["health"], p.ports["webhook"], p.file("kueue-certs"))
	if err := os.WriteFile(p.file("kueue.json"), []byte(configuration), 0o600); err != nil {
		return err
	}
	// Kueue reads a certificate for its metrics from this path, also without metrics.
	script := fmt.Sprintf(`mount -t tmpfs none /etc && mkdir -p /etc/kueue/metrics/certs && cp %s/tls.* /etc/kueue/metrics/certs &&
		exec %s/kueue --config=%s --feature-gates=VisibilityOnDemand=false --kubeconfig=%s`,
		p.file("kueue-certs"), p.servers, p.file("kueue.json"), p.file("admin.kubeconfig"))
	if err := p.start("kueue", "unshare", "--map-root-user", "--mount", "sh", "-c", script); err != nil {
		return err
	}
	err = waitFor(60*time.Second, func() error {
		connection, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", p.ports["webhook"]))
		if err == nil {
			connection.Close()
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("Kueue does not start, see %s: %w", p.file("kueue.log"), err)
	}
	return p.addWebhooks(certificate)
}

// addWebhooks adds Kueue's own webhooks for Jobs and for its own objects, at the address where it runs here.
func (p *plane) addWebhooks(certificate []byte) error {
	text, err := p.kubectl("create", "--dry-run=client", "-o", "json", "-f", p.kueue+"/config/components/webhook/manifests.yaml")
	if err != nil {
		return err
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	for decoder.More() {
		var object map[string]any
		if err := decoder.Decode(&object); err != nil {
			return err
		}
		objects := []any{object}
		if object["kind"] == "List" {
			objects = object["items"].([]any)
		}
		for _, one := range objects {
			if err := p.addWebhookConfiguration(one.(map[string]any), certificate); err != nil {
				return err
			}
		}
	}
	return nil
}

func (p *plane) addWebhookConfiguration(object map[string]any, certificate []byte) error {
	var kept []any
	for _, one := range object["webhooks"].([]any) {
		hook := one.(map[string]any)
		group := hook["rules"].([]any)[0].(map[string]any)["apiGroups"].([]any)[0]
		if group != "batch" && group != "kueue.x-k8s.io" {
			continue
		}
		path := hook["clientConfig"].(map[string]any)["service"].(map[string]any)["path"].(string)
		hook["clientConfig"] = map[string]any{
			"url":      fmt.Sprintf("https://127.0.0.1:%d%s", p.ports["webhook"], path),
			"caBundle": base64.StdEncoding.EncodeToString(certificate),
		}
		kept = append(kept, hook)
	}
	object["webhooks"] = kept
	resource := schema.GroupVersionResource{Group: "admissionregistration.k8s.io", Version: "v1",
		Resource: strings.ToLower(object["kind"].(string)) + "s"}
	_, err := p.client.Resource(resource).Create(ctx, &unstructured.Unstructured{Object: object}, metav1.CreateOptions{})
	return err
}

// addQueues adds a queue with more quota than there are slices, and one with a flavor that has a topology of Kueue.
func (p *plane) addQueues() error {
	labels := `"nodeLabels":{"cloud.google.com/gke-tpu-accelerator":"tpu-v6e-slice"}`
	queue := `{"namespaceSelector":{},"resourceGroups":[{"coveredResources":["google.com/tpu"],"flavors":[{"name":%q,
		"resources":[{"name":"google.com/tpu","nominalQuota":%q}]}]}],"admissionChecksStrategy":{"admissionChecks":[{"name":"quoit"}]}}`
	kueue := `{"apiVersion":"kueue.x-k8s.io/v1beta2","kind":%q,"metadata":{"name":%q%s},"spec":%s}`
	objects := []string{
		fmt.Sprintf(kueue, "ResourceFlavor", "v6e", "", "{"+labels+"}"),
		fmt.Sprintf(kueue, "Topology", "blocks", "", `{"levels":[{"nodeLabel":"kubernetes.io/hostname"}]}`),
		fmt.Sprintf(kueue, "ResourceFlavor", "blocks", "", "{"+labels+`,"topologyName":"blocks"}`),
		fmt.Sprintf(kueue, "ClusterQueue", "tpus", "", fmt.Sprintf(queue, "v6e", "640")),
		fmt.Sprintf(kueue, "ClusterQueue", "blocks", "", fmt.Sprintf(queue, "blocks", "640")),
		fmt.Sprintf(kueue, "LocalQueue", "tpus", `,"namespace":"default"`, `{"clusterQueue":"tpus"}`),
		fmt.Sprintf(kueue, "LocalQueue", "blocks", `,"namespace":"default"`, `{"clusterQueue":"blocks"}`),
	}
	list := p.file("queues.json")
	text := `{"apiVersion":"v1","kind":"List","items":[` + strings.Join(objects, ",") + "]}"
	if err := os.WriteFile(list, []byte(text), 0o600); err != nil {
		return err
	}
	return waitFor(30*time.Second, func() error { _, err := p.kubectl("apply", "--server-side", "-f", list); return err })
}

var shared *plane

func TestMain(m *testing.M) {
	servers, kueue := os.Getenv("QUOIT_KUEUE_SERVERS"), os.Getenv("QUOIT_KUEUE_MODULE")
	if servers == "" || kueue == "" {
		fmt.Println("skipped: check.sh runs these tests, with the programs that it builds")
		os.Exit(0)
	}
	directory, err := os.MkdirTemp("", "quoit-kueue-")
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	begin := time.Now()
	shared, err = startPlane(directory, servers, kueue)
	status := 1
	if err != nil {
		fmt.Printf("%v\nlogs: %s\n", err, directory)
	} else {
		fmt.Printf("Kubernetes and Kueue run after %.1f s\n", time.Since(begin).Seconds())
		go shared.kubelet()
		status = m.Run()
		shared.stop()
	}
	if status == 0 {
		os.RemoveAll(directory)
	} else {
		fmt.Println("logs:", directory)
	}
	os.Exit(status)
}
