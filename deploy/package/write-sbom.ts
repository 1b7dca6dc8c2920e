// Writes the software bill of materials (CycloneDX): what `npm sbom` lists, the packages that the console contains, and Node.js.

import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Build } from './build.ts';
import { bundledInConsole } from './console-packages.ts';
import { readLock } from './production-packages.ts';

interface Sbom {
  serialNumber?: string;
  readonly metadata: { timestamp: string; readonly component: { readonly 'bom-ref': string } };
  readonly components: { readonly 'bom-ref': string }[];
  readonly dependencies: { readonly ref: string; readonly dependsOn: string[] }[];
}

/** `program` is the folder that `buildProgram` has filled. Returns the path of the document. */
export function writeSbom(
  root: string,
  { program, build, output }: { readonly program: string; readonly build: Build; readonly output: string },
): string {
  const sbom = listPackages(program);
  const more = [...consoleComponents(root), nodeComponent(root)];
  const names = more.map((component) => component['bom-ref']);
  sbom.components.push(...more);
  sbom.dependencies.find(({ ref }) => ref === sbom.metadata.component['bom-ref'])?.dependsOn.push(...names);
  sbom.dependencies.push(...names.map((ref) => ({ ref, dependsOn: [] })));
  // npm writes the current time and a random number
  sbom.metadata.timestamp = new Date(build.epoch * 1000).toISOString();
  delete sbom.serialNumber;
  const file = join(output, `zonefleet-${build.version}.cdx.json`);
  writeFileSync(file, `${JSON.stringify(sbom, null, 2)}\n`);
  return file;
}

/** Lists the packages for every operating system and processor. */
function listPackages(program: string): Sbom {
  const folder = mkdtempSync(join(tmpdir(), 'zonefleet-sbom-'));
  try {
    for (const [from, to] of [
      ['package.json', 'package.json'],
      ['npm-shrinkwrap.json', 'package-lock.json'],
    ] as const)
      writeFileSync(join(folder, to), readFileSync(join(program, from)));
    const words = ['sbom', '--package-lock-only', '--sbom-format', 'cyclonedx', '--sbom-type', 'application'];
    return JSON.parse(
      execFileSync('npm', words, { cwd: folder, encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 }),
    );
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function consoleComponents(root: string) {
  const { packages } = readLock(join(root, 'console'));
  return bundledInConsole(root).map((path) => {
    const { version, license } = packages[path] as { version: string; license: string };
    return component(path.replace(/^.*node_modules\//, ''), {
      version,
      license,
      type: 'library',
      kind: 'npm',
    });
  });
}

function nodeComponent(root: string) {
  const [found] = Object.entries(readLock(join(root, 'deploy/package/node')).packages).filter(
    ([path]) => path !== '',
  );
  const version = found?.[1].version as string;
  return component('node', { version, license: 'MIT', type: 'platform', kind: 'generic' });
}

function component(
  name: string,
  { version, license, type, kind }: Readonly<Record<'version' | 'license' | 'type' | 'kind', string>>,
) {
  return {
    'bom-ref': `${name}@${version}`,
    type,
    name,
    version,
    purl: `pkg:${kind}/${name.replace('@', '%40')}@${version}`,
    licenses: [{ license: { id: license } }],
  };
}
