// The Helm chart: its values, and the objects that it renders.

import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Ajv } from 'ajv';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import {
  buildRenderer,
  type ChartRenderer,
  type KubernetesObject,
  typeFaults,
} from '../support/deploy/render-chart.ts';
import { ROOT } from '../support/tests/sources.ts';

const CHART = join(ROOT, 'deploy/helm/zonefleet');
const SECRET = { secrets: { existingSecret: 'fleet' } };
/** Values that use every branch of the templates. */
const CASES: Readonly<Record<string, object>> = {
  defaults: SECRET,
  everything: {
    image: { digest: `sha256:${'0'.repeat(64)}` },
    imagePullSecrets: [{ name: 'registry' }],
    secrets: {
      existingSecret: 'fleet',
      keys: { SMTP_URL: 'smtp-url', REDIS_URL: 'redis-url', TSIG_SECRETS: '' },
    },
    settings: { LOG_LEVEL: 'debug', NAMESERVER_SETS: 'ns1.example.net,ns2.example.net', EDGE_IPV6: '' },
    listenAddress: '[::]',
    extraVolumes: [{ name: 'files', configMap: { name: 'files' } }],
    extraVolumeMounts: [{ name: 'files', mountPath: '/etc/zonefleet' }],
    nameserver: {
      replicas: 3,
      service: {
        type: 'LoadBalancer',
        perPod: true,
        annotations: { 'example.net/pool': 'dns' },
        loadBalancerClass: 'example.net/lb',
      },
      tlsSecret: 'dns-tls',
      persistence: { storageClassName: 'fast' },
      nodeSelector: { role: 'dns' },
      tolerations: [{ key: 'dns', operator: 'Exists' }],
      affinity: { nodeAffinity: {} },
      podAnnotations: { 'example.net/team': 'dns' },
    },
    api: {
      edgeTlsSecret: 'edge-tls',
      ingress: {
        enabled: true,
        className: 'nginx',
        annotations: { 'example.net/a': 'b' },
        host: 'dns.example.net',
        tlsSecret: 'web-tls',
      },
      podAnnotations: { 'example.net/team': 'dns' },
    },
    networkPolicy: {
      metricsFrom: [{ namespaceSelector: { matchLabels: { name: 'monitoring' } } }],
      apiFrom: [{ ipBlock: { cidr: '192.0.2.0/24' } }],
      nameserverPorts: [5432, 6000],
      blocked: ['169.254.0.0/16', '10.0.0.0/8', 'fd00::/8'],
    },
    serviceMonitor: { enabled: true, labels: { release: 'prometheus' } },
  },
  'a DaemonSet': { ...SECRET, nameserver: { kind: 'DaemonSet', tlsSecret: 'dns-tls' } },
  'nothing optional': {
    ...SECRET,
    migrate: { enabled: false },
    cli: { enabled: false },
    nameserver: { persistence: { enabled: false } },
    podDisruptionBudget: { enabled: false },
    networkPolicy: { enabled: false },
  },
};

let folder: string;
let chart: ChartRenderer;
const rendered = new Map<string, KubernetesObject[]>();
const validate = new Ajv({ strict: true, allErrors: true }).compile(
  JSON.parse(readFileSync(join(CHART, 'values.schema.json'), 'utf8')),
);

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'zonefleet-chart-'));
  chart = buildRenderer(folder);
  for (const [name, values] of Object.entries(CASES)) rendered.set(name, chart.render(values));
});

afterAll(() => rmSync(folder, { recursive: true }));

describe('the schema of the values', () => {
  it('accepts the defaults with a Secret, and each case of this test', () => {
    const defaults = parse(readFileSync(join(CHART, 'values.yaml'), 'utf8'));
    const withSecret = { ...defaults, secrets: { ...defaults.secrets, existingSecret: 'fleet' } };
    for (const values of [withSecret, ...Object.values(CASES)]) {
      validate(values);
      expect(validate.errors ?? []).toEqual([]);
    }
  });

  it.each([
    ['an unknown value', { ...SECRET, nameservers: {} }, ''],
    ['a misspelled value of a nameserver', { ...SECRET, nameserver: { replica: 3 } }, '/nameserver'],
    ['a number as a setting', { ...SECRET, settings: { API_RATE: 600 } }, '/settings/API_RATE'],
    ['no Secret', { secrets: { existingSecret: '' } }, '/secrets/existingSecret'],
    ['a tag as a digest', { ...SECRET, image: { digest: '1.0.0' } }, '/image/digest'],
    ['zero replicas', { ...SECRET, api: { replicas: 0 } }, '/api/replicas'],
  ])('rejects %s and names it', (_, values, path) => {
    expect(validate(values)).toBe(false);
    expect(validate.errors?.map(({ instancePath }) => instancePath)).toContain(path);
  });
});

describe('the chart', () => {
  it.each([
    [{}, 'secrets.existingSecret: the name of an existing Secret is required'],
    [{ ...SECRET, settings: { KEY_SECRETS: 'k1:x' } }, 'settings.KEY_SECRETS: it is a secret'],
    [
      { ...SECRET, settings: { LOG_LEVLE: 'debug' } },
      'settings.LOG_LEVLE: no process of this chart reads it',
    ],
    [{ ...SECRET, settings: { DNS_LISTEN: '0.0.0.0:53' } }, 'settings.DNS_LISTEN: no process'],
    [
      { secrets: { existingSecret: 'fleet', keys: { LOG_LEVEL: 'x' } } },
      'secrets.keys.LOG_LEVEL: it is not a secret',
    ],
    [
      { ...SECRET, api: { ingress: { enabled: true } } },
      'api.ingress.host: the host name of the API is required',
    ],
  ])('refuses %j', (values, message) => {
    expect(() => chart.render(values)).toThrow(message);
  });

  it('renders objects of the Kubernetes API, with known fields of the right type', () => {
    // The types of custom resources are not in the package.
    const known = [...rendered.values()].flat().filter(({ kind }) => kind !== 'ServiceMonitor');
    expect(known.length).toBeGreaterThan(40);
    expect(typeFaults(known)).toEqual([]);
    const { metadata, ...job } = known.find(({ kind }) => kind === 'Job') as KubernetesObject;
    const misspelled = { metadata, ...job, spec: { ...job.spec, backofLimit: 3 } };
    expect(typeFaults([misspelled]).join()).toContain('backofLimit');
  });

  it('gives all objects of a kind different names, valid as DNS labels', () => {
    for (const objects of rendered.values()) {
      const names = objects.map(({ kind, metadata }) => `${kind}/${metadata.name}`);
      expect(new Set(names).size).toBe(names.length);
      expect(
        objects.filter(({ metadata }) => !/^[a-z]([-a-z0-9]{0,61}[a-z0-9])?$/.test(metadata.name)),
      ).toEqual([]);
    }
  });

  it('restricts every container, and gives no pod a token of the cluster', () => {
    for (const pod of podsOf([...rendered.values()].flat())) {
      expect(pod.spec.automountServiceAccountToken).toBe(false);
      expect(pod.spec.securityContext).toMatchObject({
        runAsNonRoot: true,
        runAsUser: 60953,
        seccompProfile: { type: 'RuntimeDefault' },
      });
      for (const container of pod.spec.containers) {
        expect(container.securityContext).toEqual({
          allowPrivilegeEscalation: false,
          readOnlyRootFilesystem: true,
          capabilities: { drop: ['ALL'] },
        });
      }
    }
  });

  it('mounts only volumes that exist, and every volume that a pod has', () => {
    for (const object of [...rendered.values()].flat()) {
      for (const { spec } of podsOf([object])) {
        const claims = (object.spec.volumeClaimTemplates ?? []).map(nameOf);
        const mounted = spec.containers[0].volumeMounts.map(nameOf);
        expect([...spec.volumes.map(nameOf), ...claims].sort()).toEqual([...mounted].sort());
      }
    }
  });

  it('gives each process the files of the secrets that it reads, and mounts no others', () => {
    const files = podsOf(rendered.get('everything') ?? []).map(({ component, spec }) => {
      const { env } = spec.containers[0];
      const named = env.filter(({ name }: { name: string }) => name.endsWith('_FILE'));
      const items = spec.volumes.find(({ name }: { name: string }) => name === 'secrets').secret.items;
      expect(items.map(({ path }: { path: string }) => `/run/secrets/zonefleet/${path}`)).toEqual(
        named.map(({ value }: { value: string }) => value),
      );
      return [component, named.map(({ name }: { name: string }) => name.replace(/_FILE$/, '')).join(' ')];
    });
    expect(Object.fromEntries(files)).toEqual({
      nameserver: 'DATABASE_URL COOKIE_SECRETS',
      api: 'DATABASE_URL KEY_SECRETS REDIS_URL SMTP_URL',
      workers: 'DATABASE_URL KEY_SECRETS REDIS_URL SMTP_URL',
      cli: 'DATABASE_URL KEY_SECRETS REDIS_URL ROLE_PASSWORDS SMTP_URL',
      migrate: 'DATABASE_URL KEY_SECRETS REDIS_URL ROLE_PASSWORDS SMTP_URL',
    });
  });

  it('gives each process the settings that it reads, also empty ones', () => {
    const settings = podsOf(rendered.get('everything') ?? []).map(({ component, spec }) => {
      const given = spec.containers[0].env.filter(({ name }: { name: string }) =>
        ['LOG_LEVEL', 'NAMESERVER_SETS', 'EDGE_IPV6'].includes(name),
      );
      return [
        component,
        given.map(({ name, value }: Record<string, string>) => `${name}=${value}`).join(' '),
      ];
    });
    const ofCommands = 'EDGE_IPV6= NAMESERVER_SETS=ns1.example.net,ns2.example.net';
    expect(Object.fromEntries(settings)).toEqual({
      nameserver: 'LOG_LEVEL=debug',
      api: 'LOG_LEVEL=debug',
      workers: 'LOG_LEVEL=debug',
      cli: ofCommands,
      migrate: ofCommands,
    });
  });

  it('selects pods of this release with each Service, budget and policy, and names ports that they have', () => {
    for (const objects of rendered.values()) {
      const pods = podsOf(objects);
      const selecting = objects.flatMap(({ kind, spec }) => {
        if (kind === 'Service') {
          const { 'statefulset.kubernetes.io/pod-name': _, ...labels } = spec.selector;
          return [{ labels, ports: spec.ports.map(({ targetPort }: { targetPort: string }) => targetPort) }];
        }
        if (kind === 'PodDisruptionBudget') return [{ labels: spec.selector.matchLabels, ports: [] }];
        if (kind !== 'NetworkPolicy') return [];
        const ports = spec.ingress.flatMap((rule: { ports: { port: string }[] }) =>
          rule.ports.map(({ port }) => port),
        );
        return [{ labels: spec.podSelector.matchLabels, ports }];
      });
      for (const { labels, ports } of selecting) {
        const selected = pods.filter((pod) =>
          Object.entries(labels).every(([name, value]) => pod.labels[name] === value),
        );
        expect([labels, selected.length]).toEqual([labels, 1]);
        const known = selected[0]?.spec.containers[0].ports?.map(nameOf) ?? [];
        expect(known).toEqual(expect.arrayContaining(ports));
      }
    }
  });

  it('runs the migration before an installation and an upgrade', () => {
    const job = rendered.get('defaults')?.find(({ kind }) => kind === 'Job');
    expect(job?.metadata.annotations?.['helm.sh/hook']).toBe('pre-install,pre-upgrade');
    expect(job?.spec.template.spec.containers[0].args).toEqual(['migrate']);
  });

  it('admits only DNS and metrics to a nameserver, and nothing to the pods of commands', () => {
    const policy = (component: string) =>
      rendered.get('defaults')?.find(({ kind, metadata }) => {
        return kind === 'NetworkPolicy' && metadata.labels['app.kubernetes.io/component'] === component;
      })?.spec;
    expect(policy('nameserver').ingress).toEqual([
      { from: [{ podSelector: {} }], ports: [{ port: 'metrics', protocol: 'TCP' }] },
      {
        ports: [
          { port: 'dns', protocol: 'UDP' },
          { port: 'dns-tcp', protocol: 'TCP' },
        ],
      },
    ]);
    expect([policy('cli').ingress, policy('migrate').ingress]).toEqual([[], []]);
    expect(policy('api').egress[0].to[1]).toEqual({
      ipBlock: { cidr: '0.0.0.0/0', except: ['169.254.0.0/16'] },
    });
  });

  it('gives each pod of a StatefulSet a Service of its own if requested', () => {
    const services = rendered.get('everything')?.filter(({ kind }) => kind === 'Service') ?? [];
    const pods = services.flatMap(({ spec }) => spec.selector['statefulset.kubernetes.io/pod-name'] ?? []);
    expect(pods).toEqual([0, 1, 2].map((index) => `fleet-zonefleet-nameserver-${index}`));
  });

  it('answers at port 53 of the node if the nameservers are a DaemonSet', () => {
    const nodes = rendered.get('a DaemonSet')?.find(({ kind }) => kind === 'DaemonSet');
    const [{ ports, env }] = podsOf(nodes === undefined ? [] : [nodes])[0]?.spec.containers ?? [];
    expect(ports.map(({ hostPort }: { hostPort?: number }) => hostPort)).toEqual([53, 53, 853, undefined]);
    expect(env[0]).toEqual({ name: 'NODE_NAME', valueFrom: { fieldRef: { fieldPath: 'spec.nodeName' } } });
    const budgets = rendered.get('a DaemonSet')?.filter(({ kind }) => kind === 'PodDisruptionBudget') ?? [];
    expect(budgets.map(nameOf)).toEqual(['fleet-zonefleet-api', 'fleet-zonefleet-workers']);
  });
});

function podsOf(objects: readonly KubernetesObject[]) {
  return objects.flatMap(({ spec }) => {
    const template = spec.template;
    if (template === undefined) return [];
    const labels: Record<string, string> = template.metadata.labels;
    return [{ labels, component: labels['app.kubernetes.io/component'], spec: template.spec }];
  });
}

function nameOf({ name, metadata }: { name?: string; metadata?: { name: string } }): string | undefined {
  return name ?? metadata?.name;
}
