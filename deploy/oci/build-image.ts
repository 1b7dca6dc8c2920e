// Builds the container image with buildah: the Debian package of Zonefleet on the few libraries that Node.js needs, without a
// shell. The archive can be loaded by Docker, Podman and tools for OCI images.

import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { NODE_ENVIRONMENT } from '../../src/start/node-flags.ts';

export interface ImageOptions {
  /** Path of the Debian package. */
  readonly deb: string;
  readonly version: string;
  readonly commit: string | undefined;
  /** Time of all files, in seconds since 1970. */
  readonly epoch: number;
  /** Path of the archive. */
  readonly output: string;
}

/** The id to which processes started by root change if no user `zonefleet` exists. */
const USER = 60953;
const NODE = '/usr/lib/zonefleet/bin/node';
const LIBRARIES = ['base-files', 'libc6', 'libgcc-s1', 'libstdc++6'];
/** Parts of packages that a container does not use. */
const UNUSED = ['etc/zonefleet', 'usr/lib/systemd', 'usr/share/man', 'usr/share/lintian'];
const DOCUMENTS = 'usr/share/doc/zonefleet';
const IS_READY = `const port = /:(\\d+)$/.exec(process.env.METRICS_LISTEN)[1];
fetch('http://127.0.0.1:' + port + '/readyz').then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))`;
const SECOND_NS = 1_000_000_000;
const HEALTHCHECK = {
  Test: ['CMD', NODE, '-e', IS_READY],
  Interval: 10 * SECOND_NS,
  Timeout: 5 * SECOND_NS,
  StartPeriod: 60 * SECOND_NS,
  Retries: 3,
};

export function buildImage(options: ImageOptions): void {
  const work = mkdtempSync(join(tmpdir(), 'zonefleet-image-'));
  const umask = process.umask(0o022); // the modes of new folders are part of the image
  try {
    const root = join(work, 'root');
    const layout = join(work, 'layout');
    fillRoot(root, options.deb, work);
    writeLayout(root, layout, work, options);
    completeLayout(layout, nameOf(options));
    writeArchive(layout, options);
  } finally {
    process.umask(umask);
    rmSync(work, { recursive: true, force: true });
  }
}

function nameOf({ version }: ImageOptions): string {
  return `localhost/zonefleet:${version}`;
}

/** Unpacks packages without installing them: nothing in them needs to run. */
function fillRoot(root: string, deb: string, work: string): void {
  const packages = join(work, 'packages');
  mkdirSync(packages);
  run('apt-get', ['-q', '-o', 'APT::Sandbox::User=root', 'download', ...LIBRARIES], packages);
  const libraries = readdirSync(packages).map((name) => join(packages, name));
  mkdirSync(root, { mode: 0o755 });
  for (const path of [...libraries, deb]) {
    run('dpkg-deb', ['--extract', path, root]);
    // Scanners find the installed versions here, as in Google's distroless images.
    const [name] = read('dpkg-deb', ['--field', path, 'Package']).trim().split('\n');
    write(join(root, 'var/lib/dpkg/status.d', name as string), read('dpkg-deb', ['--field', path]));
  }
  // `copyright` contains the licences.
  const documents = readdirSync(join(root, DOCUMENTS)).filter((name) => name !== 'copyright');
  for (const path of [...UNUSED, ...documents.map((name) => join(DOCUMENTS, name))])
    rmSync(join(root, path), { recursive: true, force: true });
  const user = `zonefleet:x:${USER}:${USER}::/data:/usr/sbin/nologin`;
  write(join(root, 'etc/passwd'), `root:x:0:0::/root:/usr/sbin/nologin\n${user}\n`);
  write(join(root, 'etc/group'), `root:x:0:\nzonefleet:x:${USER}:\n`);
  write(join(root, 'etc/nsswitch.conf'), 'passwd: files\ngroup: files\nhosts: files dns\n');
  mkdirSync(join(root, 'run/secrets'), { recursive: true, mode: 0o755 });
}

function writeLayout(root: string, layout: string, work: string, options: ImageOptions): void {
  const env = {
    ...process.env,
    STORAGE_DRIVER: 'vfs',
    BUILDAH_ISOLATION: 'chroot',
    CONTAINERS_STORAGE_CONF: join(work, 'storage.conf'),
  };
  writeFileSync(
    env.CONTAINERS_STORAGE_CONF,
    `[storage]\ndriver = "vfs"\ngraphroot = "${work}/graph"\nrunroot = "${work}/run"\n`,
  );
  const buildah = (...words: string[]) => execFileSync('buildah', words, { env, encoding: 'utf8' }).trim();
  const container = buildah('from', 'scratch');
  buildah('copy', '--quiet', container, root, '/');
  // buildah gives an owner only to folders that do not exist yet.
  const data = join(work, 'data');
  mkdirSync(data, { mode: 0o755 });
  buildah('copy', '--quiet', '--chown', `${USER}:${USER}`, container, data, '/data');
  const labels = {
    'org.opencontainers.image.title': 'Zonefleet',
    'org.opencontainers.image.description': 'Authoritative DNS server fleet with a delegation checker',
    'org.opencontainers.image.version': options.version,
    'org.opencontainers.image.revision': options.commit ?? 'unknown',
    'org.opencontainers.image.licenses': 'MIT',
    'org.opencontainers.image.created': new Date(options.epoch * 1000).toISOString(),
  };
  const settings = {
    NODE_ENV: 'production',
    ...NODE_ENVIRONMENT,
    PATH: '/usr/lib/zonefleet/bin:/usr/bin',
    DATA_DIR: '/data',
    DNS_LISTEN: '0.0.0.0:5300',
    METRICS_LISTEN: '0.0.0.0:9153',
  };
  buildah(
    'config',
    ...Object.entries(labels).flatMap(([name, value]) => ['--label', `${name}=${value}`]),
    ...Object.entries(settings).flatMap(([name, value]) => ['--env', `${name}=${value}`]),
    ...['--entrypoint', JSON.stringify(['/usr/bin/zonefleet']), '--cmd', 'run nameserver'],
    ...['--user', `${USER}:${USER}`, '--workingdir', '/data', '--volume', '/data'],
    ...['--port', '5300/udp', '--port', '5300/tcp', '--port', '9153/tcp', '--stop-signal', 'SIGTERM'],
    container,
  );
  buildah(
    ...['commit', '--quiet', '--format', 'oci', '--disable-compression=false', '--rm'],
    ...['--timestamp', String(options.epoch), container, `oci:${layout}:${nameOf(options)}`],
  );
}

interface Descriptor {
  digest: string;
  size: number;
}

/**
 * Adds the health check, which buildah omits from OCI images, and the list of images by which Docker loads an archive. Docker
 * runs the health check; others ignore it.
 */
function completeLayout(layout: string, name: string): void {
  const blob = ({ digest }: Descriptor) => `blobs/${digest.replace(':', '/')}`;
  const load = (path: string) => JSON.parse(readFileSync(join(layout, path), 'utf8'));
  const replace = (descriptor: Descriptor, content: object) => {
    rmSync(join(layout, blob(descriptor)));
    const bytes = Buffer.from(JSON.stringify(content));
    descriptor.digest = `sha256:${createHash('sha256').update(bytes).digest('hex')}`;
    descriptor.size = bytes.length;
    writeFileSync(join(layout, blob(descriptor)), bytes);
  };
  const index = load('index.json');
  const [described] = index.manifests as Descriptor[];
  if (described === undefined) throw new Error('buildah wrote no image');
  const manifest = load(blob(described)) as { config: Descriptor; layers: Descriptor[] };
  const image = load(blob(manifest.config));
  replace(manifest.config, { ...image, config: { ...image.config, Healthcheck: HEALTHCHECK } });
  replace(described, manifest);
  writeFileSync(join(layout, 'index.json'), JSON.stringify(index));
  const forDocker = { Config: blob(manifest.config), RepoTags: [name], Layers: manifest.layers.map(blob) };
  writeFileSync(join(layout, 'manifest.json'), JSON.stringify([forDocker]));
}

function writeArchive(layout: string, { output, epoch }: ImageOptions): void {
  const unfinished = `${output}.unfinished`;
  run('tar', [
    ...['--create', '--format', 'ustar', '--sort', 'name', '--mtime', `@${epoch}`],
    ...['--owner', '0', '--group', '0', '--numeric-owner', '--mode', 'u=rwX,go=rX'],
    ...['--file', unfinished, '--directory', layout, ...readdirSync(layout).sort()],
  ]);
  renameSync(unfinished, output);
}

function write(file: string, text: string): void {
  mkdirSync(dirname(file), { recursive: true, mode: 0o755 });
  writeFileSync(file, text);
}

function run(program: string, words: readonly string[], cwd?: string): void {
  execFileSync(program, words, { cwd, stdio: ['ignore', 'ignore', 2] });
}

function read(program: string, words: readonly string[]): string {
  return execFileSync(program, words, { encoding: 'utf8' });
}
