// The container image, and the fleet of deploy/compose made from it with the commands of docs/operating/install.md.

import { execFileSync, spawnSync } from 'node:child_process';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buildImage } from '../../deploy/oci/build-image.ts';
import { describeBuild } from '../../deploy/package/build.ts';
import { type Podman, startPodman } from '../support/deploy/podman.ts';
import { freePort } from '../support/processes/free-port.ts';
import { ROOT } from '../support/tests/sources.ts';
import { until } from '../support/tests/until.ts';

const EPOCH = '1700000000';
const HOOK_MS = 20 * 60_000;
const { version, commit } = describeBuild(ROOT, EPOCH);
const IMAGE = `localhost/zonefleet:${version}`;
const ZONE = `$ORIGIN example.org.
$TTL 300
@ SOA ns1.example.net. hostmaster.example.net. 1 3600 900 86400 300
@ NS ns1.example.net.
www A 192.0.2.1
`;

let folder: string;
let packages: string;
let podman: Podman;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'zonefleet-compose-'));
  packages = join(folder, 'packages');
  const words = ['run', '--silent', 'package', '--', 'deb', 'oci', 'deploy', '--output', packages];
  execFileSync('npm', words, { cwd: ROOT, env: { ...process.env, SOURCE_DATE_EPOCH: EPOCH }, stdio: 'pipe' });
  podman = await startPodman(join(folder, 'podman'));
}, HOOK_MS);

afterAll(async () => {
  await podman?.stop();
  rmSync(folder, { recursive: true, force: true });
}, HOOK_MS);

describe('the image', () => {
  it(
    'is equal if it is built again',
    () => {
      const again = join(folder, 'again.tar');
      const deb = join(packages, `zonefleet_${version}_amd64.deb`);
      buildImage({ deb, version, commit, epoch: Number(EPOCH), output: again });
      expect(readFileSync(again).equals(readFileSync(archive()))).toBe(true);
      rmSync(again);
    },
    HOOK_MS,
  );

  it('names its version, commit and license, and an unprivileged user', () => {
    podman.podman('load', '--quiet', '--input', archive());
    const [image] = JSON.parse(podman.podman('image', 'inspect', IMAGE));
    expect(image.Config).toMatchObject({
      User: '60953:60953',
      Entrypoint: ['/usr/bin/zonefleet'],
      Cmd: ['run', 'nameserver'],
      Labels: {
        'org.opencontainers.image.version': version,
        'org.opencontainers.image.revision': commit,
        'org.opencontainers.image.licenses': 'MIT',
      },
    });
  });

  it('runs commands without a writable root, capabilities, a network and a shell', () => {
    const restricted = ['run', '--rm', '--read-only', '--cap-drop', 'ALL', '--network', 'none'];
    expect(podman.podman(...restricted, IMAGE, '--version')).toContain(version);
    expect(() => podman.podman(...restricted, '--entrypoint', '/bin/sh', IMAGE, '-c', 'true')).toThrow();
  });

  it('lists the installed Debian packages for scanners', () => {
    const list = `console.log(fs.readdirSync('/var/lib/dpkg/status.d').join())`;
    const node = ['--entrypoint', '/usr/lib/zonefleet/bin/node'];
    expect(podman.podman('run', '--rm', ...node, IMAGE, '-e', list).trim()).toBe(
      'base-files,libc6,libgcc-s1,libstdc++6,zonefleet',
    );
  });
});

describe('the fleet of Docker Compose', () => {
  const ports: Record<string, number> = {};
  let env: Record<string, string>;
  let cwd: string;

  beforeAll(async () => {
    addHostImage();
    const zones = join(folder, 'zones');
    mkdirSync(zones);
    writeFileSync(join(zones, 'example.org.zone'), ZONE);
    for (const name of ['NAMESERVER_1', 'NAMESERVER_2', 'API', 'WORKERS']) {
      ports[name] = await freePort(1);
      ports[`${name}_METRICS`] = ports[name] + 1;
    }
    const listen = Object.entries(ports).map(([name, port]) => [name, `127.0.0.1:${port}`]);
    env = {
      ...Object.fromEntries(listen),
      COMPOSE_FILE: `compose.yaml:${join(ROOT, 'test/support/deploy/compose-stores.yaml')}`,
      COMPOSE_PROJECT_NAME: `zonefleet-test-${process.pid}`,
      COMPOSE_HTTP_TIMEOUT: '300',
    };
    for (const name of readdirSync(packages)) symlinkSync(join(packages, name), join(folder, name));
    const [dig, ...commands] = commandsOf('Docker Compose').trim().split('\n').reverse();
    podman.run(commands.reverse().join('\n').replaceAll('/srv/zones', zones), { cwd: folder, env });
    const query = (dig ?? '').replace('-p 5300', `-p ${ports.NAMESERVER_1}`);
    await until(() => answers(query).includes('hostmaster.example.net. 1 3600'));
    cwd = join(folder, `zonefleet-${version}-deploy/compose`);
  }, HOOK_MS);

  it.each(['NAMESERVER_1', 'NAMESERVER_2'])('answers from %s over UDP and TCP', async (name) => {
    for (const transport of ['+notcp', '+tcp']) {
      const query = `dig @127.0.0.1 -p ${ports[name]} ${transport} +short www.example.org A`;
      await until(() => answers(query) === '192.0.2.1');
    }
  });

  it('is ready in every process, by the health check of the image', async () => {
    const health = imageHealthCheck();
    for (const service of ['nameserver-1', 'nameserver-2', 'api', 'workers']) {
      await until(() => {
        try {
          podman.podman('exec', containerOf(service), ...health);
          return true;
        } catch {
          return false;
        }
      });
    }
    const [node, ...words] = health as [string, ...string[]];
    const elsewhere = ['--env', 'METRICS_LISTEN=0.0.0.0:1', containerOf('api'), node, ...words];
    expect(() => podman.podman('exec', ...elsewhere)).toThrow();
  });

  it('answers API calls with a key that the command line created', async () => {
    podman.run('docker compose run --rm cli account create ann@example.com --admin', { cwd, env });
    const printed = podman.run('docker compose run --rm cli key create ann@example.com', { cwd, env });
    const key = /svc_\w{40}/.exec(printed)?.[0];
    const response = await fetch(`http://127.0.0.1:${ports.API}/domains/`, {
      headers: { Authorization: `Bearer ${key}` },
    });
    expect(response.status).toBe(200);
  });

  it('gives each container only its secrets, a read-only root and a writable data folder', () => {
    const script = `
      const write = (path) => { try { fs.writeFileSync(path, ''); return 'written'; } catch (error) { return error.code; } };
      console.log(JSON.stringify([process.getuid(), fs.readdirSync('/run/secrets'), write('/x'), write('/data/x'), write('/tmp/x')]));`;
    const seen = podman.podman(
      'exec',
      containerOf('nameserver-1'),
      '/usr/lib/zonefleet/bin/node',
      '-e',
      script,
    );
    expect(JSON.parse(seen)).toEqual([
      60953,
      ['cookie-secrets', 'database-url-node', 'tsig-secrets'],
      'EROFS',
      'written',
      'written',
    ]);
  });

  it('has no secret in the environment or the command line of a container', () => {
    const secrets = join(cwd, 'secrets');
    const values = readdirSync(secrets).flatMap(
      (name) => readFileSync(join(secrets, name), 'utf8').match(/[0-9a-f]{32,}/g) ?? [],
    );
    expect(values.length).toBeGreaterThan(10);
    const described = podman.podman('inspect', ...podman.podman('ps', '--all', '--quiet').trim().split('\n'));
    expect(values.filter((value) => described.includes(value))).toEqual([]);
  });

  it('refuses to replace secrets that are in use', () => {
    expect(() => podman.run('./make-secrets', { cwd })).toThrow('secrets/ exists');
  });

  function containerOf(service: string): string {
    return `${env.COMPOSE_PROJECT_NAME}_${service}_1`;
  }
});

/** Returns what dig prints, also if the server does not answer yet. */
function answers(query: string): string {
  expect(query).toMatch(/^dig /);
  return spawnSync('bash', ['-c', query], { encoding: 'utf8' }).stdout.trim();
}

function archive(): string {
  return join(packages, `zonefleet-${version}-oci.tar`);
}

/** Reads the archive, because Podman shows no health check of an OCI image. */
function imageHealthCheck(): string[] {
  const read = (path: string) =>
    JSON.parse(execFileSync('tar', ['-xOf', archive(), path], { encoding: 'utf8' }));
  const [{ Config }] = read('manifest.json');
  const [kind, ...words] = read(Config).config.Healthcheck.Test;
  expect(kind).toBe('CMD');
  return words;
}

/** An empty image, into which test/support/deploy/compose-stores.yaml mounts the programs of this machine. */
function addHostImage(): void {
  const root = join(folder, 'host');
  for (const name of ['usr', 'bin', 'lib', 'lib64', 'etc', 'tmp', 'var/lib/postgresql'])
    mkdirSync(join(root, name), { recursive: true });
  const tar = join(folder, 'host.tar');
  execFileSync('tar', ['-cf', tar, '-C', root, '.']);
  podman.podman('import', '--quiet', tar, 'localhost/host:1');
}

/** Returns the first indented block of a section of docs/operating/install.md. */
function commandsOf(heading: string): string {
  const text = readFileSync(join(ROOT, 'docs/operating/install.md'), 'utf8');
  const section = text.split(/^## /m).find((each) => each.startsWith(`${heading}\n`)) ?? '';
  const block = /(?:^ {4}.*\n)+/m.exec(section)?.[0];
  if (block === undefined) throw new Error(`install.md has no commands in "${heading}"`);
  return block.replaceAll(/^ {4}/gm, '');
}
