// Validator reads manifests from standard input and answers what the API server of the
// pinned Kubernetes release would say to them: strict decoding, defaults, then the server's
// own validation. One line a finding; the exit code is 1 when there is one.
package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	"k8s.io/kubernetes/pkg/apis/apps"
	_ "k8s.io/kubernetes/pkg/apis/apps/install"
	appsvalidation "k8s.io/kubernetes/pkg/apis/apps/validation"
	"k8s.io/kubernetes/pkg/apis/autoscaling"
	_ "k8s.io/kubernetes/pkg/apis/autoscaling/install"
	autoscalingvalidation "k8s.io/kubernetes/pkg/apis/autoscaling/validation"
	"k8s.io/kubernetes/pkg/apis/batch"
	_ "k8s.io/kubernetes/pkg/apis/batch/install"
	batchvalidation "k8s.io/kubernetes/pkg/apis/batch/validation"
	"k8s.io/kubernetes/pkg/apis/core"
	_ "k8s.io/kubernetes/pkg/apis/core/install"
	corevalidation "k8s.io/kubernetes/pkg/apis/core/validation"
	"k8s.io/kubernetes/pkg/apis/networking"
	_ "k8s.io/kubernetes/pkg/apis/networking/install"
	networkingvalidation "k8s.io/kubernetes/pkg/apis/networking/validation"
	"k8s.io/kubernetes/pkg/apis/policy"
	_ "k8s.io/kubernetes/pkg/apis/policy/install"
	policyvalidation "k8s.io/kubernetes/pkg/apis/policy/validation"
)

var errUnknownKind = errors.New("no validation is known for this kind")

// problems are what the server's validation says of an object in its internal version.
func problems(object runtime.Object) (field.ErrorList, error) {
	pods := corevalidation.PodValidationOptions{}
	switch it := object.(type) {
	case *apps.Deployment:
		return appsvalidation.ValidateDeployment(it, pods), nil
	case *apps.StatefulSet:
		return appsvalidation.ValidateStatefulSet(it, appsvalidation.StatefulSetValidationOptions{}, pods), nil
	case *batch.Job:
		selectOwnPods(it)
		return batchvalidation.ValidateJobCreate(it, batchvalidation.JobValidationOptions{RequirePrefixedLabels: true}), nil
	case *core.ConfigMap:
		return corevalidation.ValidateConfigMap(it), nil
	case *core.Namespace:
		return corevalidation.ValidateNamespace(it), nil
	case *core.Secret:
		return corevalidation.ValidateSecret(it), nil
	case *core.Service:
		return corevalidation.ValidateServiceCreate(it), nil
	case *core.ServiceAccount:
		return corevalidation.ValidateServiceAccount(it), nil
	case *policy.PodDisruptionBudget:
		return policyvalidation.ValidatePodDisruptionBudget(it, policyvalidation.PodDisruptionBudgetValidationOptions{}), nil
	case *networking.NetworkPolicy:
		return networkingvalidation.ValidateNetworkPolicy(it, networkingvalidation.NetworkPolicyValidationOptions{}), nil
	case *autoscaling.HorizontalPodAutoscaler:
		return autoscalingvalidation.ValidateHorizontalPodAutoscaler(it, autoscalingvalidation.HorizontalPodAutoscalerSpecValidationOptions{}), nil
	}
	return nil, errUnknownKind
}

// selectOwnPods fills in what the server does when a Job is created without a selector.
func selectOwnPods(job *batch.Job) {
	if job.Spec.Selector != nil {
		return
	}
	job.UID = "00000000-0000-0000-0000-000000000000"
	own := map[string]string{
		batch.ControllerUidLabel: string(job.UID), batch.LegacyControllerUidLabel: string(job.UID),
		batch.JobNameLabel: job.Name, batch.LegacyJobNameLabel: job.Name,
	}
	if job.Spec.Template.Labels == nil {
		job.Spec.Template.Labels = map[string]string{}
	}
	maps.Copy(job.Spec.Template.Labels, own)
	job.Spec.Selector = &metav1.LabelSelector{
		MatchLabels: map[string]string{batch.ControllerUidLabel: string(job.UID)},
	}
}

// check answers the object's kind and every finding about it.
func check(decoder runtime.Decoder, document []byte) (string, []error) {
	object, kind, err := decoder.Decode(document, nil, nil)
	if err != nil {
		return "", []error{err}
	}
	legacyscheme.Scheme.Default(object)
	internal, err := legacyscheme.Scheme.UnsafeConvertToVersion(object, runtime.InternalGroupVersioner)
	if err != nil {
		return kind.Kind, []error{err}
	}
	list, err := problems(internal)
	if err != nil {
		return kind.Kind, []error{err}
	}
	found := make([]error, 0, len(list))
	for _, problem := range list {
		found = append(found, problem)
	}
	return kind.Kind, found
}

func run(in io.Reader, out io.Writer) (int, error) {
	decoder := serializer.NewCodecFactory(legacyscheme.Scheme, serializer.EnableStrict).UniversalDeserializer()
	documents := yaml.NewYAMLReader(bufio.NewReader(in))
	findings := 0
	for number := 1; ; number++ {
		document, err := documents.Read()
		if errors.Is(err, io.EOF) {
			return findings, nil
		}
		if err != nil {
			return findings, err
		}
		kind, found := check(decoder, document)
		for _, finding := range found {
			findings++
			fmt.Fprintf(out, "document %d %s: %v\n", number, kind, finding)
		}
	}
}

func main() {
	findings, err := run(os.Stdin, os.Stdout)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	if findings > 0 {
		os.Exit(1)
	}
}
