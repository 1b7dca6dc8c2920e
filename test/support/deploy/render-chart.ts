// Renders deploy/helm/zonefleet with Go's template engine, and checks the result against the types of the Kubernetes API.

import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';
import { ROOT } from '../tests/sources.ts';

const CHART = join(ROOT, 'deploy/helm/zonefleet');

export interface KubernetesObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly labels: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
  };
  // biome-ignore lint/suspicious/noExplicitAny: the compiler checks it in `typeFaults`
  readonly spec: any;
}

export interface ChartRenderer {
  /** Returns the objects, or throws an error with Helm's message. */
  render(values: object): KubernetesObject[];
}

/** Compiles the renderer into `folder`, with Debian's Go packages. */
export function buildRenderer(folder: string): ChartRenderer {
  const program = join(folder, 'render-chart');
  execFileSync('go', ['build', '-o', program, join(import.meta.dirname, 'render-chart.go')], {
    env: { ...process.env, GO111MODULE: 'off', GOPATH: '/usr/share/gocode', GOFLAGS: '-buildvcs=false' },
  });
  return {
    render(values) {
      const input = JSON.stringify({ chart: CHART, release: 'fleet', namespace: 'dns', values });
      const { status, stdout, stderr } = spawnSync(program, { input, encoding: 'utf8' });
      if (status !== 0) throw new Error(stderr);
      return Object.entries<string>(JSON.parse(stdout))
        .filter(([file]) => file.endsWith('.yaml'))
        .flatMap(([file, text]) => parseObjects(file, text));
    },
  };
}

function parseObjects(file: string, text: string): KubernetesObject[] {
  // Kubernetes reads YAML 1.1, in which 0440 is an octal number.
  return parseAllDocuments(text, { version: '1.1' }).flatMap((document) => {
    if (document.errors[0] !== undefined) throw new Error(`${file}: ${document.errors[0].message}\n${text}`);
    const value = document.toJS();
    return value === null ? [] : [value];
  });
}

/**
 * Returns what TypeScript reports if the objects are constants of their Kubernetes types: unknown and missing fields, and
 * values of another type.
 */
export function typeFaults(objects: readonly KubernetesObject[]): string[] {
  const folder = mkdtempSync(join(tmpdir(), 'zonefleet-types-'));
  try {
    symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
    const lines = objects.map(({ apiVersion, kind, ...rest }, index) => {
      const [group, version] = apiVersion.includes('/') ? apiVersion.split('/') : ['core', apiVersion];
      const module = `kubernetes-types/${group?.replace(/\.k8s\.io$/, '')}/${version}`;
      const value = JSON.stringify({ apiVersion, kind, ...rest }, null, 1);
      return `export const ${kind}${index}: import('${module}').${kind} = ${value};`;
    });
    writeFileSync(join(folder, 'objects.ts'), lines.join('\n'));
    const options = [
      '--ignoreConfig',
      '--noEmit',
      '--strict',
      '--skipLibCheck',
      '--types',
      '',
      '--module',
      'nodenext',
    ];
    const tsc = join(ROOT, 'node_modules/.bin/tsc');
    const { status, stdout } = spawnSync(tsc, [...options, join(folder, 'objects.ts')], { encoding: 'utf8' });
    return status === 0 ? [] : stdout.trim().split('\n');
  } finally {
    rmSync(folder, { recursive: true });
  }
}
