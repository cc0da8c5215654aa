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
	core "k8s.io/api/core/v1"
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
			"policy/v1 PodDisruptionBudget": &o.budget,
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
			if grace := pod.TerminationGracePeriodSeconds; grace == nil || *grace != needed {
				t.Errorf("%s: the grace period is not %d s", name, needed)
			}
		}
	}
}

func TestAProxyIsNotRootWritesNowhereAndHasLimits(t *testing.T) {
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
		if c.Resources.Limits.Cpu().IsZero() || c.Resources.Limits.Memory().IsZero() {
			t.Errorf("%s: the proxy has no limits", name)
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
