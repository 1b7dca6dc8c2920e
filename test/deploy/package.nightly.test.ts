// Packages are reproducible and signed, and each returns its first answer on a clean Debian with the commands of
// docs/operating/install.md. systemd does not run in a chroot: a small script replaces systemctl.

import { execFile, execFileSync, spawn } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { nodeFolder } from '../../deploy/package/build-deb.ts';
import { DEBIAN_POSTGRES } from '../support/database/database.ts';
import { isInstalled } from '../support/peers/peers.ts';
import { freePort } from '../support/processes/free-port.ts';
import { type OwnPostgres, startOwnPostgres } from '../support/runbooks/own-postgres.ts';
import { ROOT } from '../support/tests/sources.ts';
import { until } from '../support/tests/until.ts';

const PROGRAMS = ['mmdebstrap', 'minisign', 'dpkg-deb', 'dig', 'unshare', `${DEBIAN_POSTGRES}/bin/postgres`];
const absent = PROGRAMS.filter(
  (program) => !(program.startsWith('/') ? existsSync(program) : isInstalled(program)),
);
const skipped = absent.length === 0 ? '' : ` (skipped: needs ${absent.join()})`;
const SOURCES = [
  ...['src', 'workers', 'console', 'deploy', 'docs', 'agent', 'bench'],
  ...['LICENSE', 'README.md', 'CHANGELOG.md', 'SECURITY.md'],
];
const SETTINGS = ['package.json', 'package-lock.json', 'tsconfig.json'];
const BUILD_MS = 20 * 60_000;
const INSTALL = 'docs/operating/install.md';
const ZONE = `$ORIGIN example.org.
@ 300 SOA ns1.example.net. hostmaster 7 3600 600 604800 300
@ 300 NS ns1.example.net.
@ 300 NS ns2.example.net.
`;
const PASSWORDS = { NODE: 'node-password-1', API: 'api-password-1', WORKER: 'worker-password-1' };
/**
 * Records its arguments. Starts a unit as systemd does, as far as the units of Zonefleet need it: with the settings of its files
 * only, and as a user that owns the state and cannot read /etc/zonefleet.
 */
const SYSTEMCTL = `#!/bin/sh
set -e
echo "$*" >>/var/log/systemctl
[ "$1 $2" = "enable --now" ] || exit 0
shift 2
for unit; do
  file=/usr/lib/systemd/system/$unit.service
  state=$(sed -n 's/^StateDirectory=//p' $file)
  [ -z "$state" ] || install -d -m 700 -o 61234 -g 61234 /var/lib/$state
  settings=$(grep -hE '^[A-Z_]+=' $(sed -n 's/^EnvironmentFile=//p' $file))
  eval port=\\$PORT_\${unit#zonefleet-}
  setsid setpriv --reuid=61234 --regid=61234 --clear-groups env -i $settings $(sed -n 's/^Environment=//p' $file) \\
    METRICS_LISTEN=127.0.0.1:$port API_LISTEN=127.0.0.1:$PORT_http $(sed -n 's/^ExecStart=//p' $file) >/var/log/$unit 2>&1 </dev/null &
done
`;

const ENVIRONMENT = { PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin' };
const run = promisify(execFile);

let work: string;
let packages: string;
let postgres: OwnPostgres;
let ports: Record<'dns' | 'nameserver' | 'api' | 'workers' | 'http', number>;

beforeAll(async () => {
  if (skipped !== '') return;
  work = mkdtempSync(join(tmpdir(), 'zonefleet-package-'));
  packages = join(work, 'first');
  execFileSync('minisign', ['-G', '-W', '-p', join(work, 'zonefleet.pub'), '-s', join(work, 'key')], {
    stdio: 'ignore',
  });
  chmodSync(work, 0o755);
  copySources(join(work, 'copy'));
  // the commit of the second build, even if another is made meanwhile
  execFileSync('git', ['clone', '--quiet', '--bare', '--depth=1', `file://${ROOT}`, join(work, 'git')]);
  await Promise.all([
    buildPackages(join(work, 'copy'), packages, ['--sign', join(work, 'key')]),
    // its mounts end with it, even if it is killed
    run('unshare', ['--mount', 'mmdebstrap', '--variant=minbase', '--quiet', 'bookworm', join(work, 'root')]),
  ]);
  postgres = await startOwnPostgres({
    needPassword: ['zonefleet_node', 'zonefleet_api', 'zonefleet_worker'],
  });
  const [dns, nameserver, api, workers, http] = await Promise.all(
    Array.from({ length: 5 }, () => freePort()),
  );
  ports = { dns, nameserver, api, workers, http } as typeof ports;
  place(join(work, 'root'), 'usr/local/bin/systemctl', SYSTEMCTL, 0o755);
}, BUILD_MS);
afterAll(async () => {
  await postgres?.end();
  if (work !== undefined) rmSync(work, { recursive: true, force: true });
});

it.skipIf(skipped !== '')(
  `are equal if they are built again in another folder with another umask${skipped}`,
  async () => {
    mkdirSync(join(work, 'deeper'));
    renameSync(join(work, 'copy'), join(work, 'deeper/copy'));
    const umask = process.umask(0o077);
    try {
      await buildPackages(join(work, 'deeper/copy'), join(work, 'second'), []);
    } finally {
      process.umask(umask);
    }
    const files = readdirSync(join(work, 'second')).sort();
    expect(files).toEqual(
      readdirSync(packages)
        .filter((name) => !name.endsWith('.minisig'))
        .sort(),
    );
    expect(files.filter((name) => /\.(deb|tgz|cdx\.json|txt)$/.test(name)).length).toBe(4);
    const isEqual = (name: string) =>
      readFileSync(join(packages, name)).equals(readFileSync(join(work, 'second', name)));
    expect(files.filter((name) => !isEqual(name))).toEqual([]);
  },
  BUILD_MS,
);

it.skipIf(skipped !== '')(`are accepted by the documented commands, and have an SBOM${skipped}`, () => {
  cpSync(join(work, 'zonefleet.pub'), join(packages, 'zonefleet.pub'));
  const printed = execFileSync('sh', ['-ec', commandsOf('SECURITY.md', 'Verify a package').join('\n')], {
    cwd: packages,
    encoding: 'utf8',
  });
  expect(printed).toMatch(/^Trusted comment: Zonefleet 1\.0\.0$/m);
  expect(printed.match(/: OK$/gm)).toHaveLength(4);
  const names = ['zonefleet', 'fastify', 'preact', 'node'];
  const sbom = JSON.parse(readFileSync(packageNamed('.cdx.json'), 'utf8'));
  expect([sbom.metadata.component, ...sbom.components]).toEqual(
    expect.arrayContaining(
      names.map((name) => expect.objectContaining({ name, licenses: expect.anything() })),
    ),
  );
});

it.skipIf(skipped !== '')(
  `the Debian package returns its first answer on a clean root${skipped}`,
  async () => {
    const root = join(work, 'root');
    place(root, 'root/zonefleet_1.0.0_amd64.deb', readFileSync(packageNamed('.deb')));
    place(root, 'root/example.org.zone', ZONE);
    const commands = commandsOf(INSTALL, 'Debian package').filter((line) => !line.startsWith('dig '));
    await inRoot(root, commands.join('\n'), async (printed) => {
      expect(await answerOf(ports.dns)).toMatch(/^ns1\.example\.net\. hostmaster\.example\.org\. 7 /);
      for (const name of ['api', 'workers'] as const)
        await until(
          async () =>
            (await fetch(`http://127.0.0.1:${ports[name]}/readyz`).catch(() => undefined))?.status === 200,
          () => readFileSync(join(root, `var/log/zonefleet-${name}`), 'utf8'),
        );
      expect((await fetch(`http://127.0.0.1:${ports.http}/`)).status).toBe(200);
      expect(printed).toMatch(/\/console\/#sign-in=/);
      expect(printed).toMatch(/^ +nameservers +ns1\.example\.net ns2\.example\.net$/m);
      const Authorization = `Bearer ${/^svc_\w+$/m.exec(printed)?.[0]}`;
      const shown = await fetch(`http://127.0.0.1:${ports.http}/domains/shop.net`, {
        headers: { Authorization },
      });
      expect(await shown.json()).toMatchObject({ name: 'shop.net', status: 'pending' });
      expect(statSync(join(root, 'etc/zonefleet/cli.env')).mode & 0o777).toBe(0o640);
      expect(existsSync(join(root, 'usr/share/man/man1/zonefleet.1.gz'))).toBe(true);
    });
  },
);

it.skipIf(skipped !== '')(`the Debian package keeps settings until it is purged${skipped}`, () => {
  const root = join(work, 'root');
  const calls = join(root, 'var/log/systemctl');
  const callsOf = (command: string) => {
    rmSync(calls, { force: true });
    execFileSync('chroot', [root, 'sh', '-ec', command], {
      stdio: ['ignore', 'ignore', 2],
      env: ENVIRONMENT,
    });
    return existsSync(calls) ? readFileSync(calls, 'utf8').trim().split('\n') : [];
  };
  const exists = (...paths: string[]) => paths.filter((path) => existsSync(join(root, path)));
  const settings = () => readFileSync(join(root, 'etc/zonefleet/nameserver.env'), 'utf8');
  const before = settings();
  mkdirSync(join(root, 'run/systemd/system'), { recursive: true });

  // an upgrade restarts nothing
  expect(callsOf('dpkg --install /root/zonefleet_1.0.0_amd64.deb')).toEqual([
    'daemon-reload',
    'daemon-reload',
  ]);
  expect(settings()).toBe(before);

  expect(callsOf('dpkg --remove zonefleet')).toEqual([
    '--quiet disable --now zonefleet-nameserver zonefleet-api zonefleet-workers zonefleet-vantage',
    'daemon-reload',
  ]);
  expect(settings()).toBe(before);
  expect(exists('usr/lib/zonefleet', 'usr/bin/zonefleet', 'var/lib/zonefleet-nameserver')).toEqual([
    'var/lib/zonefleet-nameserver',
  ]);

  callsOf('dpkg --purge zonefleet');
  expect(exists('etc/zonefleet', 'usr/share/doc/zonefleet', 'var/lib/zonefleet-nameserver')).toEqual([]);
});

it.skipIf(skipped !== '')(
  `the npm tarball checks a delegation and returns its first answer${skipped}`,
  async () => {
    const root = join(work, 'root');
    cpSync(join(nodeFolder(ROOT), 'bin/node'), join(root, 'usr/local/bin/node'));
    const npm = join(dirname(process.execPath), '../lib/node_modules/npm');
    cpSync(npm, join(root, 'usr/local/lib/node_modules/npm'), { recursive: true, dereference: true });
    for (const name of ['npm', 'npx'])
      place(
        root,
        `usr/local/bin/${name}`,
        `#!/bin/sh\nexec node /usr/local/lib/node_modules/npm/bin/${name}-cli.js "$@"\n`,
        0o755,
      );
    place(root, 'opt/zone/zonefleet-1.0.0.tgz', readFileSync(packageNamed('.tgz')));
    const [install = '', check = '', migrate = '', start = ''] = commandsOf(INSTALL, 'npm tarball');
    const script = [
      'cd /opt/zone',
      // nothing is downloaded
      'export npm_config_registry=http://127.0.0.1:9/',
      install,
      // without internet, the verdict is "unknown", and the command ends with 1
      `${check} >/check.txt 2>&1 || [ $? = 1 ]`,
      `export METRICS_LISTEN=127.0.0.1:$PORT_nameserver RUN_AS=61234`,
      `export DATABASE_URL=${postgres.urlOf('zonefleet_owner')} NAMESERVER_SETS=ns1.example.net,ns2.example.net`,
      migrate,
      `${start} >/var/log/npm 2>&1 </dev/null &`,
    ];
    await inRoot(root, script.join('\n'), async () => {
      expect(readFileSync(join(root, 'check.txt'), 'utf8')).toMatch(/^Verdict /m);
      expect(await answerOf(ports.dns)).toMatch(/^ns1\.example\.net\. hostmaster\.example\.org\. 7 /);
    });
  },
);

/** Packages hard-linked, so that the copy needs little space. */
function copySources(folder: string): void {
  mkdirSync(folder);
  for (const name of [...SOURCES, ...SETTINGS])
    cpSync(join(ROOT, name), join(folder, name), {
      recursive: true,
      filter: (path) => !/\/(node_modules|dist)$/.test(path),
    });
  nodeFolder(ROOT); // installs Node.js once
  for (const path of ['node_modules', 'console/node_modules', 'deploy/package/node/node_modules'])
    if (existsSync(join(ROOT, path))) execFileSync('cp', ['-al', join(ROOT, path), join(folder, path)]);
}

async function buildPackages(folder: string, output: string, flags: readonly string[]): Promise<void> {
  const words = ['src/start/run.mjs', 'deploy/package/main.ts', 'npm', 'deb', '--output', output, ...flags];
  const env = { ...process.env, GIT_DIR: join(work, 'git'), SOURCE_DATE_EPOCH: '1790000000' };
  await run(process.execPath, words, { cwd: folder, env });
}

function packageNamed(end: string): string {
  return join(packages, readdirSync(packages).find((name) => name.endsWith(end)) as string);
}

/** Returns the lines of all code blocks of a section. */
function commandsOf(document: string, heading: string): string[] {
  const text = readFileSync(join(ROOT, document), 'utf8');
  const section = text.split(/^#+ /m).find((part) => part.startsWith(`${heading}\n`)) as string;
  return section
    .split('\n')
    .filter((line) => line.startsWith('    '))
    .map((line) => line.slice(4));
}

/** Replaces the documented addresses, names and passwords. */
function localized(script: string): string {
  let local = script
    .replaceAll('db.example.net', `127.0.0.1:${postgres.port}`)
    .replaceAll('192.0.2.1:53', `127.0.0.1:${ports.dns}`);
  for (const [role, password] of Object.entries(PASSWORDS))
    local = local.replaceAll(`${role}-PASSWORD`, password);
  return local;
}

/** Runs the script in the root, then `check` with its output, and ends all processes that the script has started. */
async function inRoot(
  root: string,
  script: string,
  check: (printed: string) => Promise<void>,
): Promise<void> {
  rmSync(join(root, 'ready'), { force: true });
  place(root, 'script', `cd /root\n${localized(script)}\ntouch /ready\nexec sleep infinity`);
  const outside = `mount -t proc proc ${root}/proc && exec chroot ${root} sh -e /script`;
  const variables = Object.entries(ports).map(([name, port]) => [`PORT_${name}`, String(port)]);
  const child = spawn('unshare', ['--mount', '--pid', '--fork', '--kill-child', 'sh', '-ec', outside], {
    env: { ...ENVIRONMENT, ...Object.fromEntries(variables) },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let printed = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (text) => (printed += text));
  const ended = new Promise<string>((done) =>
    child.on('exit', (code) => done(`ended with ${code}: ${printed}`)),
  );
  try {
    const ready = until(
      () => existsSync(join(root, 'ready')) && 'ready',
      () => printed,
    );
    expect(await Promise.race([ended, ready])).toBe('ready');
    await check(printed);
  } finally {
    child.kill('SIGKILL');
    await ended;
  }
}

async function answerOf(port: number): Promise<string> {
  let answer = '';
  await until(() => {
    const words = ['@127.0.0.1', '-p', String(port), '+short', '+tries=1', '+time=2', 'example.org', 'SOA'];
    try {
      answer = execFileSync('dig', words, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
    } catch {
      return false; // the node does not listen yet
    }
    return answer !== '';
  });
  return answer;
}

function place(root: string, path: string, content: string | Uint8Array, mode = 0o644): void {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), content, { mode });
}
