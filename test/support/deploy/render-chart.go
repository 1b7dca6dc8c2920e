// Renders a Helm chart as `helm template` does: text/template, Sprig and the few functions that Helm adds. Debian has no Helm,
// but Helm's template engine. Reads {"chart": FOLDER, "values": {…}, "release": NAME, "namespace": NAME} as JSON from standard
// input and writes {"FILE": TEXT} to standard output. The first error is written to standard error.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"text/template"

	"github.com/Masterminds/sprig"
	"sigs.k8s.io/yaml"
)

type files string

// Get returns an empty string if the file does not exist, as Helm does.
func (folder files) Get(name string) string {
	text, err := os.ReadFile(filepath.Join(string(folder), name))
	if err != nil {
		return ""
	}
	return string(text)
}

type object = map[string]interface{}

func main() {
	var input struct {
		Chart, Release, Namespace string
		Values                    object
	}
	check(json.NewDecoder(os.Stdin).Decode(&input))
	rendered, err := render(input.Chart, input.Release, input.Namespace, input.Values)
	check(err)
	check(json.NewEncoder(os.Stdout).Encode(rendered))
}

func render(folder, release, namespace string, given object) (map[string]string, error) {
	var chart, values object
	for name, target := range map[string]*object{"Chart.yaml": &chart, "values.yaml": &values} {
		text, err := os.ReadFile(filepath.Join(folder, name))
		if err != nil {
			return nil, err
		}
		if err := yaml.UnmarshalStrict(text, target); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	scope := object{
		"Values": merge(values, given),
		// Templates use exported names of these fields.
		"Chart": object{
			"Name": chart["name"], "Version": chart["version"], "AppVersion": chart["appVersion"],
		},
		"Release": object{
			"Name": release, "Namespace": namespace, "Service": "Helm", "IsInstall": true, "IsUpgrade": false, "Revision": 1,
		},
		"Files": files(folder),
	}
	paths, err := filepath.Glob(filepath.Join(folder, "templates", "*"))
	if err != nil {
		return nil, err
	}
	all := template.New("chart").Option("missingkey=zero")
	all.Funcs(functions(all))
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		if _, err := all.New(filepath.Base(path)).Parse(string(text)); err != nil {
			return nil, err
		}
	}
	rendered := map[string]string{}
	for _, path := range paths {
		name := filepath.Base(path)
		if strings.HasPrefix(name, "_") {
			continue
		}
		var text strings.Builder
		if err := all.ExecuteTemplate(&text, name, scope); err != nil {
			return nil, err
		}
		rendered[name] = strings.ReplaceAll(text.String(), "<no value>", "")
	}
	return rendered, nil
}

// merge combines maps recursively. A null removes the default, and lists are replaced.
func merge(defaults, given object) object {
	merged := object{}
	for name, value := range defaults {
		merged[name] = value
	}
	for name, value := range given {
		left, isMap := merged[name].(object)
		right, isGivenMap := value.(object)
		switch {
		case value == nil:
			delete(merged, name)
		case isMap && isGivenMap:
			merged[name] = merge(left, right)
		default:
			merged[name] = value
		}
	}
	return merged
}

func functions(all *template.Template) template.FuncMap {
	found := sprig.TxtFuncMap()
	// Helm removes these, so that a chart cannot read the environment of the machine.
	delete(found, "env")
	delete(found, "expandenv")
	found["include"] = func(name string, scope interface{}) (string, error) {
		var text strings.Builder
		err := all.ExecuteTemplate(&text, name, scope)
		return text.String(), err
	}
	found["required"] = func(message string, value interface{}) (interface{}, error) {
		if value == nil || value == "" {
			return nil, errors.New(message)
		}
		return value, nil
	}
	found["fail"] = func(message string) (string, error) { return "", errors.New(message) }
	found["toYaml"] = func(value interface{}) (string, error) {
		text, err := yaml.Marshal(value)
		return strings.TrimSuffix(string(text), "\n"), err
	}
	found["fromJson"] = func(text string) (object, error) {
		value := object{}
		err := json.Unmarshal([]byte(text), &value)
		return value, err
	}
	return found
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
