// SPDX-License-Identifier: Apache-2.0

// Command quoit-kueue is an admission-check controller for Kueue: it admits Workloads only onto TPU slices that quoit has
// reserved for them. See docs/kueue.md.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/typed/coordination/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"

	"quoit"
	"quoit/contrib/kueue/admission"
	"quoit/contrib/kueue/kube"
)

// settings are those of the command line.
type settings struct {
	ledger, source, kubeconfig, namespace, lease, identity, listen string
	leaseDuration, renewDeadline, retryPeriod, period, wait, lost  time.Duration
	waits                                                          admission.Waits
	rejectNever                                                    bool
}

func environment(name, otherwise string) string {
	if value := os.Getenv(name); value != "" {
		return value
	}
	return otherwise
}

func parse(arguments []string) (*settings, error) {
	s := &settings{}
	host, err := os.Hostname()
	if err != nil {
		host = "quoit-kueue"
	}
	flags := flag.NewFlagSet("quoit-kueue", flag.ContinueOnError)
	flags.StringVar(&s.ledger, "ledger", environment("QUOIT_DB", ""), "the ledger: a `file`, or postgresql://HOST/DATABASE#FLEET; default $QUOIT_DB")
	flags.StringVar(&s.source, "source", "k8s", "the `name` of this cluster in the ledger")
	flags.StringVar(&s.kubeconfig, "kubeconfig", "", "a kubeconfig `file`; default: the service account of the pod")
	flags.StringVar(&s.namespace, "namespace", environment("POD_NAMESPACE", "quoit-system"), "the `namespace` of the Lease")
	flags.StringVar(&s.lease, "lease", "quoit-kueue", "the `name` of the Lease that elects the leader")
	flags.StringVar(&s.identity, "identity", environment("POD_NAME", host), "the `name` of this process in the Lease and in the ledger")
	flags.StringVar(&s.listen, "listen", ":8080", "the `address` of /metrics and /healthz")
	flags.DurationVar(&s.leaseDuration, "lease-duration", 15*time.Second, "how long the Lease lasts without renewal")
	flags.DurationVar(&s.renewDeadline, "renew-deadline", 10*time.Second, "how long a leader tries to renew the Lease")
	flags.DurationVar(&s.retryPeriod, "retry-period", 2*time.Second, "how often the Lease is renewed or requested")
	flags.DurationVar(&s.period, "period", 30*time.Second, "how often to compare everything without an event")
	flags.DurationVar(&s.wait, "wait", 10*time.Second, "how long a change waits for other writers of the ledger")
	flags.DurationVar(&s.waits.Shortest, "retry-shortest", 30*time.Second, "after what time a Workload is tried again")
	flags.DurationVar(&s.waits.Longest, "retry-longest", 10*time.Minute, "the longest such time; it doubles with each refusal")
	flags.DurationVar(&s.lost, "lost-after", 5*time.Minute, "how long a node may be not Ready before its slice is replaced")
	flags.BoolVar(&s.rejectNever, "reject-never", false, "reject Workloads that cannot fit the known fleet, which deactivates them")
	if err := flags.Parse(arguments); err != nil {
		return nil, err
	}
	switch {
	case flags.NArg() > 0:
		return nil, fmt.Errorf("unexpected argument '%s'", flags.Arg(0))
	case s.ledger == "":
		return nil, errors.New("-ledger: expected the file or the URL of a ledger, also in $QUOIT_DB")
	case s.period < time.Second:
		return nil, fmt.Errorf("-period '%v': expected at least 1s", s.period)
	case s.wait < 0:
		return nil, fmt.Errorf("-wait '%v': expected 0s or more", s.wait)
	case s.lost < 0:
		return nil, fmt.Errorf("-lost-after '%v': expected 0s or more", s.lost)
	case s.waits.Shortest < time.Second || s.waits.Longest < s.waits.Shortest:
		return nil, fmt.Errorf("-retry-shortest '%v' and -retry-longest '%v': expected at least 1s, in this order",
			s.waits.Shortest, s.waits.Longest)
	}
	return s, nil
}

func main() {
	log.SetFlags(log.LstdFlags | log.Lmicroseconds | log.LUTC)
	s, err := parse(os.Args[1:])
	if errors.Is(err, flag.ErrHelp) {
		return
	}
	if err != nil {
		log.Print(err)
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	if err := run(ctx, s); err != nil {
		log.Print(err)
		os.Exit(1)
	}
}

// process is the state of the running program.
type process struct {
	*settings
	config     *rest.Config
	cluster    *kube.Cluster
	controller *admission.Controller
	elector    *leaderelection.LeaderElector
	lastPass   atomic.Int64 // when the last pass ended, or this process became the leader: Unix time in seconds; 0 before
}

func run(ctx context.Context, s *settings) error {
	p := &process{settings: s}
	var err error
	if p.config, err = clientcmd.BuildConfigFromFlags("", s.kubeconfig); err != nil {
		return err
	}
	p.config.QPS, p.config.Burst = 50, 100
	if p.cluster, err = kube.New(p.config); err != nil {
		return err
	}
	p.controller = &admission.Controller{
		Cluster: p.cluster, Source: s.source, Waits: s.waits, RejectNever: s.rejectNever, LostAfter: s.lost,
		Now: time.Now, Guard: p.guard, Step: testStep, Log: log.Printf,
	}
	serving := make(chan error, 1)
	go func() { serving <- p.serve() }()
	if err := p.cluster.Run(ctx); err != nil {
		return err
	}
	leading := make(chan error, 1)
	go func() { leading <- p.elect(ctx) }()
	select {
	case err := <-serving:
		return err
	case err := <-leading:
		return err
	}
}

// elect waits until this process is the leader, and leads until the context ends. The Lease is given up only after the
// last pass, so that the next leader need not wait for its end.
func (p *process) elect(ctx context.Context) error {
	client, err := v1.NewForConfig(p.config)
	if err != nil {
		return err
	}
	electing, stopElecting := context.WithCancel(context.Background())
	defer stopElecting()
	result := make(chan error, 1)
	p.elector, err = leaderelection.NewLeaderElector(leaderelection.LeaderElectionConfig{
		Lock: &resourcelock.LeaseLock{
			LeaseMeta: metav1.ObjectMeta{Namespace: p.namespace, Name: p.lease}, Client: client,
			LockConfig: resourcelock.ResourceLockConfig{Identity: p.identity},
		},
		LeaseDuration: p.leaseDuration, RenewDeadline: p.renewDeadline, RetryPeriod: p.retryPeriod, ReleaseOnCancel: true,
		Callbacks: leaderelection.LeaderCallbacks{
			OnStartedLeading: func(leading context.Context) {
				context.AfterFunc(leading, func() { result <- errors.New("the Lease is lost") })
				passing, stop := context.WithCancel(leading)
				defer context.AfterFunc(ctx, stop)()
				defer stop()
				err := p.lead(passing)
				if ctx.Err() != nil {
					err = nil
				}
				result <- err
			},
			OnStoppedLeading: func() {},
		},
	})
	if err != nil {
		return err
	}
	elected := make(chan struct{})
	go func() {
		defer close(elected)
		p.elector.Run(electing)
	}()
	select {
	case err = <-result:
	case <-ctx.Done():
		if p.elector.IsLeader() {
			err = <-result
		}
	}
	stopElecting()
	<-elected
	return err
}

// guard is called before each change.
func (p *process) guard() error {
	if !p.elector.IsLeader() {
		return fmt.Errorf("Lease %s/%s: %w", p.namespace, p.lease, admission.ErrNotLeader)
	}
	// A process that was paused finds out here that its Lease has ended, before it tries to renew it.
	if err := p.elector.Check(0); err != nil {
		return fmt.Errorf("%w: %w", err, admission.ErrNotLeader)
	}
	return nil
}

// openLedger opens the ledger, and creates it if it does not exist.
func (p *process) openLedger() (*quoit.Ledger, error) {
	ledger, err := quoit.Open(p.ledger, p.wait)
	if errors.Is(err, quoit.NotFound) {
		if ledger, err = quoit.Create(p.ledger, p.wait); errors.Is(err, quoit.Conflict) {
			ledger, err = quoit.Open(p.ledger, p.wait)
		}
	}
	if err == nil {
		err = ledger.SetActor("kueue:" + p.identity)
	}
	return ledger, err
}

// lead makes passes until the context ends, or something happens after which this process must start again.
func (p *process) lead(ctx context.Context) error {
	p.lastPass.Store(time.Now().Unix())
	ledger, err := p.openLedger()
	if err != nil {
		return err
	}
	defer ledger.Close()
	term := uint64(0)
	if strings.HasPrefix(p.ledger, "postgresql://") || strings.HasPrefix(p.ledger, "postgres://") {
		if term, err = ledger.Lead(ctx, p.identity); err != nil {
			return err
		}
	}
	p.controller.Ledger = ledger
	p.controller.Metrics.SetLeader(term)
	log.Printf("%s leads, term %d", p.identity, term)
	for ctx.Err() == nil {
		err := p.controller.Pass(ctx)
		p.lastPass.Store(time.Now().Unix())
		pause := p.period
		if err != nil && !isConflict(err) {
			p.controller.Metrics.CountError()
			log.Print("pass: ", err)
		}
		for _, fatal := range []error{quoit.Fenced, quoit.Damaged, quoit.Version, admission.ErrNotLeader} {
			if errors.Is(err, fatal) {
				return err
			}
		}
		if err != nil {
			pause = time.Second
		}
		p.sleep(ctx, pause)
	}
	return ctx.Err()
}

// isConflict returns whether nothing else has failed than changes of objects that had changed.
func isConflict(err error) bool {
	if parts, ok := err.(interface{ Unwrap() []error }); ok && !errors.Is(err, quoit.Fenced) {
		for _, part := range parts.Unwrap() {
			if !errors.Is(part, admission.ErrConflict) {
				return false
			}
		}
		return true
	}
	return errors.Is(err, admission.ErrConflict)
}

// sleep returns when the cluster has changed or after a time. Changes that follow quickly are handled together.
func (p *process) sleep(ctx context.Context, pause time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(pause):
	case <-p.cluster.Changed():
		select {
		case <-ctx.Done():
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// serve serves metrics, and whether the process is healthy: a leader that makes no passes is not.
func (p *process) serve() error {
	http.HandleFunc("/metrics", func(to http.ResponseWriter, _ *http.Request) {
		to.Header().Set("Content-Type", "text/plain; version=0.0.4")
		p.controller.Metrics.Write(to)
	})
	http.HandleFunc("/healthz", p.answerHealth)
	return http.ListenAndServe(p.listen, nil)
}

func (p *process) answerHealth(to http.ResponseWriter, _ *http.Request) {
	last := p.lastPass.Load()
	if age := time.Since(time.Unix(last, 0)); last != 0 && age > 3*p.period+time.Minute {
		http.Error(to, fmt.Sprintf("no pass has ended for %v", age), http.StatusServiceUnavailable)
		return
	}
	fmt.Fprintln(to, "ok")
}
