{{- define "zonefleet.fullname" -}}
{{- if contains .Chart.Name .Release.Name -}}
{{- .Release.Name | trunc 40 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name .Chart.Name | trunc 40 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{- define "zonefleet.image" -}}
{{- if .Values.image.digest -}}
{{- printf "%s@%s" .Values.image.repository .Values.image.digest -}}
{{- else -}}
{{- printf "%s:%s" .Values.image.repository (.Values.image.tag | default .Chart.AppVersion) -}}
{{- end -}}
{{- end -}}

{{- /* Labels that select the pods of a component, which is the process by default. They never change. Arguments: root, process,
component. */ -}}
{{- define "zonefleet.selector" -}}
app.kubernetes.io/name: zonefleet
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .component | default .process }}
{{- end -}}

{{- define "zonefleet.labels" -}}
{{ include "zonefleet.selector" . }}
app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .root.Chart.Name .root.Chart.Version }}
{{- end -}}

{{- /* Fails for settings that no process of the chart reads, that are secret, or that the chart sets. */ -}}
{{- define "zonefleet.checkSettings" -}}
{{- $known := .Files.Get "files/settings.json" | fromJson -}}
{{- range $name, $value := .Values.settings -}}
{{- if hasKey $known.secrets $name -}}
{{- fail (printf "settings.%s: it is a secret: add its key to secrets.keys instead" $name) -}}
{{- else if not (hasKey $known.settings $name) -}}
{{- fail (printf "settings.%s: no process of this chart reads it, or the chart sets it" $name) -}}
{{- end -}}
{{- end -}}
{{- range $name, $key := .Values.secrets.keys -}}
{{- if not (hasKey $known.secrets $name) -}}
{{- fail (printf "secrets.keys.%s: it is not a secret setting of a process of this chart" $name) -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{- /* The settings and the files of the secrets that a process reads. Arguments: root, process. */ -}}
{{- define "zonefleet.env" -}}
{{- include "zonefleet.checkSettings" .root -}}
{{- $process := .process -}}
{{- $known := .root.Files.Get "files/settings.json" | fromJson -}}
- { name: DATABASE_URL_FILE, value: /run/secrets/zonefleet/DATABASE_URL }
{{- range $name, $key := .root.Values.secrets.keys }}
{{- if and $key (has $process (get $known.secrets $name)) }}
- { name: {{ $name }}_FILE, value: /run/secrets/zonefleet/{{ $name }} }
{{- end }}
{{- end }}
{{- range $name, $value := .root.Values.settings }}
{{- if has $process (get $known.settings $name) }}
- name: {{ $name }}
  value: {{ $value | quote }}
{{- end }}
{{- end }}
{{- end -}}

{{- /* Volume with the secrets that a process reads, and no others. Arguments: root, process. */ -}}
{{- define "zonefleet.secretVolume" -}}
{{- $process := .process -}}
{{- $known := .root.Files.Get "files/settings.json" | fromJson -}}
- name: secrets
  secret:
    secretName: {{ required "secrets.existingSecret: the name of an existing Secret is required" .root.Values.secrets.existingSecret }}
    defaultMode: 0440
    items:
      - { key: {{ get .root.Values.secrets.databaseUrl $process | quote }}, path: DATABASE_URL }
{{- range $name, $key := .root.Values.secrets.keys }}
{{- if and $key (has $process (get $known.secrets $name)) }}
      - { key: {{ $key | quote }}, path: {{ $name }} }
{{- end }}
{{- end }}
{{- end -}}

{{- define "zonefleet.podSecurity" -}}
runAsNonRoot: true
runAsUser: 60953
runAsGroup: 60953
fsGroup: 60953
fsGroupChangePolicy: OnRootMismatch
seccompProfile: { type: RuntimeDefault }
{{- end -}}

{{- define "zonefleet.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities: { drop: [ALL] }
{{- end -}}

{{- /* Fields of each pod except containers and volumes. Arguments: root, process. */ -}}
{{- define "zonefleet.pod" -}}
serviceAccountName: {{ .root.Values.serviceAccountName }}
automountServiceAccountToken: false
enableServiceLinks: false
securityContext:
  {{- include "zonefleet.podSecurity" . | nindent 2 }}
{{- with .root.Values.imagePullSecrets }}
imagePullSecrets:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{- /* Where the pods of a process run. Arguments: root, process, values. */ -}}
{{- define "zonefleet.placement" -}}
topologySpreadConstraints:
  - maxSkew: 1
    topologyKey: kubernetes.io/hostname
    whenUnsatisfiable: ScheduleAnyway
    labelSelector:
      matchLabels:
        {{- include "zonefleet.selector" . | nindent 8 }}
{{- with .values.nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .values.tolerations }}
tolerations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .values.affinity }}
affinity:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{- /* Mounts of each container. Arguments: root. */ -}}
{{- define "zonefleet.mounts" -}}
- { name: data, mountPath: /data }
- { name: tmp, mountPath: /tmp }
- { name: secrets, mountPath: /run/secrets/zonefleet, readOnly: true }
{{- with .root.Values.extraVolumeMounts }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{- /* Volumes of each pod except `data`. Arguments: root, process. */ -}}
{{- define "zonefleet.volumes" -}}
{{ include "zonefleet.secretVolume" . }}
- name: tmp
  emptyDir: { sizeLimit: 256Mi }
{{- with .root.Values.extraVolumes }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{- /* A nameserver that loads its zones is alive, but not ready. */ -}}
{{- define "zonefleet.probes" -}}
startupProbe:
  httpGet: { path: /healthz, port: metrics }
  periodSeconds: 2
  failureThreshold: 60
livenessProbe:
  httpGet: { path: /healthz, port: metrics }
  periodSeconds: 10
  timeoutSeconds: 5
  failureThreshold: 6
readinessProbe:
  httpGet: { path: /readyz, port: metrics }
  periodSeconds: 5
  timeoutSeconds: 5
{{- end -}}

{{- /* Keeps answering while the cluster removes the pod from its Services. */ -}}
{{- define "zonefleet.preStop" -}}
preStop:
  exec:
    command: [/usr/lib/zonefleet/bin/node, -e, "setTimeout(() => {}, 5000)"]
{{- end -}}
