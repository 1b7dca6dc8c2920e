// Writes the software bill of materials (CycloneDX): what `npm sbom` lists, the packages that the console contains, and Node.js.

import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Build } from './build.ts';
import { bundledInConsole } from './console-packages.ts';
import { packagesNeededBy, readLock } from './production-packages.ts';

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
  const sbom = listPackages(root, program);
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
function listPackages(root: string, program: string): Sbom {
  const manifest = JSON.parse(readFileSync(join(program, 'package.json'), 'utf8'));
  const { packages } = readLock(root);
  const paths = packagesNeededBy({ packages }, Object.keys(manifest.dependencies));
  const lock = {
    name: manifest.name,
    version: manifest.version,
    lockfileVersion: 3,
    packages: { '': manifest, ...Object.fromEntries(paths.map((path) => [path, packages[path]])) },
  };
  const work = mkdtempSync(join(tmpdir(), 'zonefleet-sbom-'));
  try {
    // npm takes the name of the component from the folder
    const folder = join(work, manifest.name);
    mkdirSync(folder);
    for (const [name, content] of Object.entries({ 'package.json': manifest, 'package-lock.json': lock }))
      writeFileSync(join(folder, name), JSON.stringify(content));
    const words = ['sbom', '--package-lock-only', '--sbom-format', 'cyclonedx', '--sbom-type', 'application'];
    return JSON.parse(
      execFileSync('npm', words, { cwd: folder, encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 }),
    );
  } finally {
    rmSync(work, { recursive: true });
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
