// Package kubernetes tests deploy/kubernetes against Kubernetes' own types. It is a module of its own, so that the
// product does not require those.
package kubernetes

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	apps "k8s.io/api/apps/v1"
	autoscaling "k8s.io/api/autoscaling/v2"
	batch "k8s.io/api/batch/v1"
	core "k8s.io/api/core/v1"
	network "k8s.io/api/networking/v1"
	policy "k8s.io/api/policy/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/yaml"
)

const folder = "../../../deploy/kubernetes/"

// objects are the result of a kustomization.
type objects struct {
	deployment apps.Deployment
	service    core.Service
	budget     policy.PodDisruptionBudget
	job        batch.Job
	network    network.NetworkPolicy
	monitor    podMonitor
	scaler     autoscaling.HorizontalPodAutoscaler
}

// podMonitor has the fields of the operator's type that are used here.
type podMonitor struct {
	meta.TypeMeta `json:",inline"`
	Metadata      meta.ObjectMeta `json:"metadata"`
	Spec          struct {
		Selector            meta.LabelSelector `json:"selector"`
		PodMetricsEndpoints []struct {
			Port     string `json:"port"`
			Path     string `json:"path"`
			Interval string `json:"interval"`
		} `json:"podMetricsEndpoints"`
	} `json:"spec"`
}

// build builds a kustomization and decodes the result as strictly as Kubernetes can: an unknown field is an error.
func build(t *testing.T, name string) (o objects) {
	t.Helper()
	made, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(filesys.MakeFsOnDisk(), folder+name)
	if err != nil {
		t.Fatal(err)
	}
	for _, resource := range made.Resources() {
		text, err := resource.AsYAML()
		if err != nil {
			t.Fatal(err)
		}
		into := map[string]any{
			"apps/v1 Deployment": &o.deployment, "v1 Service": &o.service,
			"policy/v1 PodDisruptionBudget": &o.budget, "batch/v1 Job": &o.job,
			"networking.k8s.io/v1 NetworkPolicy": &o.network, "monitoring.coreos.com/v1 PodMonitor": &o.monitor,
			"autoscaling/v2 HorizontalPodAutoscaler": &o.scaler,
		}[resource.GetApiVersion()+" "+resource.GetKind()]
		if into == nil {
			t.Fatalf("%s makes a %s, which this test does not know", name, resource.GetKind())
		}
		read(t, text, into)
	}
	return o
}

func read(t *testing.T, text []byte, into any) {
	t.Helper()
	if err := yaml.UnmarshalStrict(text, into); err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
}

// proxies returns the containers in a pod that run the proxy.
func proxies(pod core.PodSpec) (found []core.Container) {
	for _, c := range append(pod.InitContainers, pod.Containers...) {
		if strings.HasPrefix(c.Image, "pgflurry:") {
			found = append(found, c)
		}
	}
	return found
}

// variable returns the value of an environment variable of a container.
func variable(t *testing.T, c core.Container, name string) string {
	t.Helper()
	for _, v := range c.Env {
		if v.Name == name {
			return v.Value
		}
	}
	t.Fatalf("container %s has no variable %s", c.Name, name)
	return ""
}

func TestAPodHasTheTimeThatADrainTakes(t *testing.T) {
	for _, name := range []string{"base", "example"} {
		pod := build(t, name).deployment.Spec.Template.Spec
		for _, c := range proxies(pod) {
			drain, err := time.ParseDuration(variable(t, c, "PGFLURRY_DRAIN_TIMEOUT"))
			if err != nil {
				t.Fatal(err)
			}
			before := int64(0)
			if c.Lifecycle != nil {
				before = c.Lifecycle.PreStop.Sleep.Seconds
			}
			needed := before + int64(drain.Seconds()) + 5
			if grace := pod.TerminationGracePeriodSeconds; grace == nil || *grace < needed {
				t.Errorf("%s: the grace period is below %d s", name, needed)
			}
		}
	}
}

func TestTheSidecarFitsIntoTheUsualGraceAndChangesNone(t *testing.T) {
	pod := build(t, "example").deployment.Spec.Template.Spec
	if grace := pod.TerminationGracePeriodSeconds; *grace != 120 {
		t.Errorf("the application has %d s of grace left of its 120 s", *grace)
	}
	drain, err := time.ParseDuration(variable(t, proxies(pod)[0], "PGFLURRY_DRAIN_TIMEOUT"))
	if usual := core.DefaultTerminationGracePeriodSeconds * time.Second; err != nil || drain+5*time.Second > usual {
		t.Errorf("a drain of %v (%v) and 5 s do not fit into %v", drain, err, usual)
	}
}

func TestTheJobMigratesWithTheRightsThatItNeeds(t *testing.T) {
	job := build(t, "migrate").job
	pod := job.Spec.Template.Spec
	found := proxies(pod)
	if len(found) != 1 || fmt.Sprint(found[0].Args) != "[migrate up]" {
		t.Fatalf("the job runs %+v", found)
	}
	c := found[0]
	path, mount := variable(t, c, "PGFLURRY_DATABASE_FILE"), c.VolumeMounts[0]
	if !strings.HasPrefix(path, mount.MountPath+"/") || pod.Volumes[0].Name != mount.Name {
		t.Errorf("%s is not in the volume at %s", path, mount.MountPath)
	}
	if !yes(pod.SecurityContext.RunAsNonRoot) || !yes(c.SecurityContext.ReadOnlyRootFilesystem) ||
		yes(c.SecurityContext.AllowPrivilegeEscalation) || c.Resources.Limits.Memory().IsZero() {
		t.Errorf("it may do more than it needs: %+v", c.SecurityContext)
	}
	rules := job.Spec.PodFailurePolicy.Rules
	if pod.RestartPolicy != core.RestartPolicyNever || len(rules) != 1 ||
		*rules[0].OnExitCodes.ContainerName != c.Name {
		t.Errorf("exit codes that nothing heals do not end it: %+v", rules)
	}
}

func TestMonitorAndNetworkPolicyMeanTheProxiesAndTheirPorts(t *testing.T) {
	o := build(t, "guarded")
	pod := o.deployment.Spec.Template
	ports := map[string]bool{}
	for _, p := range pod.Spec.Containers[0].Ports {
		ports[p.Name] = true
	}
	for name, selector := range map[string]meta.LabelSelector{
		"the monitor": o.monitor.Spec.Selector, "the policy": o.network.Spec.PodSelector,
	} {
		selects, err := meta.LabelSelectorAsSelector(&selector)
		if err != nil || selects.Empty() || !selects.Matches(labels.Set(pod.Labels)) {
			t.Errorf("%s selects %v (%v); the pods are %v", name, selector, err, pod.Labels)
		}
	}
	endpoint := o.monitor.Spec.PodMetricsEndpoints[0]
	if !ports[endpoint.Port] || endpoint.Path != "/metrics" {
		t.Errorf("Prometheus asks %+v; the ports are %v", endpoint, ports)
	}
	if len(o.network.Spec.Ingress) != len(ports) {
		t.Errorf("there are %d rules for the ports %v", len(o.network.Spec.Ingress), ports)
	}
	for _, rule := range o.network.Spec.Ingress {
		if len(rule.From) != 1 || len(rule.Ports) != 1 || !ports[rule.Ports[0].Port.StrVal] {
			t.Errorf("a rule lets in more than one kind of peers to one port of %v: %+v", ports, rule)
		}
	}
}

func TestAProxyReachesNamesAndPostgreSQLAndNothingElse(t *testing.T) {
	o := build(t, "guarded")
	_, upstream, _ := strings.Cut(variable(t, proxies(o.deployment.Spec.Template.Spec)[0], "PGFLURRY_UPSTREAM"), ":")
	var ports []string
	for _, rule := range o.network.Spec.Egress {
		for _, p := range rule.Ports {
			ports = append(ports, p.Port.String())
			if (len(rule.To) == 0) != (p.Port.String() == upstream) {
				t.Errorf("port %v is open to %+v", p.Port, rule.To)
			}
		}
	}
	if got := strings.Join(ports, " "); got != "53 53 "+upstream || len(o.network.Spec.PolicyTypes) != 2 {
		t.Errorf("open are the ports %s, in the directions %v", got, o.network.Spec.PolicyTypes)
	}
}

// worst is how many workers a pod can hold: its own, and those of five crashes in the three minutes that each rests.
const worst = 6

func TestTheAutoscalerStaysWithinTheWorkersAndOwnsTheReplicas(t *testing.T) {
	o := build(t, "scaled")
	spec := o.scaler.Spec
	if spec.ScaleTargetRef.Kind != "Deployment" || spec.ScaleTargetRef.Name != o.deployment.Name {
		t.Errorf("it scales %+v, and not %s", spec.ScaleTargetRef, o.deployment.Name)
	}
	if o.deployment.Spec.Replicas != nil {
		t.Errorf("the deployment asks for %d replicas, too", *o.deployment.Spec.Replicas)
	}
	if *spec.MinReplicas < 2 || *spec.MinReplicas > spec.MaxReplicas || spec.MaxReplicas*worst > 1008 {
		t.Errorf("%d to %d replicas", *spec.MinReplicas, spec.MaxReplicas)
	}
	pods := spec.Metrics[0].Pods
	if pods.Metric.Name != "pgflurry_sessions" || pods.Target.Type != autoscaling.AverageValueMetricType ||
		pods.Target.AverageValue.IsZero() {
		t.Errorf("it looks at %+v", pods)
	}
	if down := spec.Behavior.ScaleDown; len(down.Policies) != 1 || down.Policies[0].Value != 1 {
		t.Errorf("several proxies may end at once: %+v", down)
	}
}

func TestAProbeOutlastsABusySecond(t *testing.T) {
	for _, name := range []string{"base", "example", "ids"} {
		c := proxies(build(t, name).deployment.Spec.Template.Spec)[0]
		for _, probe := range []*core.Probe{c.StartupProbe, c.LivenessProbe, c.ReadinessProbe} {
			if probe != nil && probe.TimeoutSeconds < 3 {
				t.Errorf("%s: a probe fails after %d s", name, probe.TimeoutSeconds)
			}
		}
	}
}

func TestAProxyOfTheIDDatabaseAloneIsReadyByWhatItsClientsNeed(t *testing.T) {
	c := proxies(build(t, "ids").deployment.Spec.Template.Spec)[0]
	if got := c.ReadinessProbe.HTTPGet.Path; got != "/readyz/id-database" {
		t.Errorf("the readiness probe asks %s; expected /readyz/id-database", got)
	}
	if name := variable(t, c, "PGFLURRY_ID_DATABASE"); name != "pgflurry" {
		t.Errorf("the ID database is %q; expected pgflurry", name)
	}
}

func TestAProxyIsNotRootWritesNowhereAndHasNoLimitButThatOfMemory(t *testing.T) {
	for _, name := range []string{"base", "example"} {
		pod := build(t, name).deployment.Spec.Template.Spec
		found := proxies(pod)
		if len(found) != 1 {
			t.Fatalf("%s has %d containers of the proxy", name, len(found))
		}
		c := found[0]
		notRoot, profile := c.SecurityContext.RunAsNonRoot, c.SecurityContext.SeccompProfile
		if pod.SecurityContext != nil {
			notRoot, profile = pod.SecurityContext.RunAsNonRoot, pod.SecurityContext.SeccompProfile
		}
		if !yes(notRoot) || !yes(c.SecurityContext.ReadOnlyRootFilesystem) || profile == nil ||
			c.SecurityContext.AllowPrivilegeEscalation == nil || *c.SecurityContext.AllowPrivilegeEscalation ||
			len(c.SecurityContext.Capabilities.Drop) != 1 {
			t.Errorf("%s: the proxy may do more than it needs: %+v", name, c.SecurityContext)
		}
		if limits := c.Resources.Limits; limits.Memory().IsZero() || !limits.Cpu().IsZero() ||
			c.Resources.Requests.Cpu().IsZero() {
			t.Errorf("%s: the proxy has %+v", name, c.Resources)
		}
		if token := pod.AutomountServiceAccountToken; token == nil || *token {
			t.Errorf("%s: the pod gets a token of the cluster", name)
		}
	}
}

func yes(b *bool) bool { return b != nil && *b }

func TestServiceAndBudgetMeanThePodsOfTheDeployment(t *testing.T) {
	o := build(t, "base")
	pod := o.deployment.Spec.Template
	served := o.service.Spec.Selector
	if len(served) == 0 || !labels.SelectorFromSet(served).Matches(labels.Set(pod.Labels)) {
		t.Errorf("the service selects %v; the pods are %v", served, pod.Labels)
	}
	for name, selector := range map[string]*meta.LabelSelector{
		"the budget": o.budget.Spec.Selector, "the deployment": o.deployment.Spec.Selector,
	} {
		selects, err := meta.LabelSelectorAsSelector(selector)
		if err != nil || selects.Empty() || !selects.Matches(labels.Set(pod.Labels)) {
			t.Errorf("%s selects %v (%v); the pods are %v", name, selector, err, pod.Labels)
		}
	}
	ports := map[string]int32{}
	for _, p := range pod.Spec.Containers[0].Ports {
		ports[p.Name] = p.ContainerPort
	}
	c := pod.Spec.Containers[0]
	for port, listens := range map[string]string{
		o.service.Spec.Ports[0].TargetPort.StrVal: "PGFLURRY_LISTEN",
		c.LivenessProbe.HTTPGet.Port.StrVal:       "PGFLURRY_ADMIN_LISTEN",
		c.ReadinessProbe.HTTPGet.Port.StrVal:      "PGFLURRY_ADMIN_LISTEN",
	} {
		if address := variable(t, c, listens); ports[port] == 0 || address != fmt.Sprintf(":%d", ports[port]) {
			t.Errorf("port %q is %d, but %s is %s", port, ports[port], listens, address)
		}
	}
}

func TestTheSidecarStartsBeforeTheApplicationAndRunsBesideIt(t *testing.T) {
	pod := build(t, "example").deployment.Spec.Template.Spec
	if len(pod.InitContainers) != 1 || len(pod.Containers) != 1 {
		t.Fatalf("%d init containers and %d containers", len(pod.InitContainers), len(pod.Containers))
	}
	sidecar := pod.InitContainers[0]
	if sidecar.RestartPolicy == nil || *sidecar.RestartPolicy != core.ContainerRestartPolicyAlways {
		t.Errorf("the restart policy is %v; without Always the pod would wait for its end", sidecar.RestartPolicy)
	}
	if sidecar.StartupProbe == nil {
		t.Error("the application would start before clients are accepted")
	}
}

func TestTheSecretOfTheExampleIsTheOneThatIsMounted(t *testing.T) {
	file, err := os.ReadFile(folder + "secret.example.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var secret core.Secret
	read(t, file, &secret)
	for _, name := range []string{"base", "example"} {
		pod := build(t, name).deployment.Spec.Template.Spec
		volume, c := pod.Volumes[0], proxies(pod)[0]
		if volume.Secret == nil || volume.Secret.SecretName != secret.Name {
			t.Errorf("%s: the volume is %+v; expected secret %s", name, volume, secret.Name)
		}
		mount := c.VolumeMounts[0]
		path := variable(t, c, "PGFLURRY_LEASE_DATABASE_FILE")
		key, inside := strings.CutPrefix(path, mount.MountPath+"/")
		if !inside || mount.Name != volume.Name || secret.StringData[key] == "" {
			t.Errorf("%s: %s is not in %s of secret %s", name, path, mount.MountPath, secret.Name)
		}
	}
	if !bytes.Contains(file, []byte("PASSWORD")) {
		t.Error("the example has a password of its own")
	}
}
