// Podman with a storage of its own, and Docker Compose that uses it, in place of a Docker engine.

import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Program, programOf, untilReady } from '../processes/program.ts';

export interface Podman {
  /** Runs a script in which `docker` is Podman, and `docker compose` is Docker Compose. Returns what it printed. */
  run(
    script: string,
    options: { readonly cwd: string; readonly env?: Readonly<Record<string, string>> },
  ): string;
  podman(...words: string[]): string;
  /** Removes all containers, and ends Podman. */
  stop(): Promise<void>;
}

/** In this script, Compose takes the other files of the test too. */
const DOCKER = `docker() {
  if [ "$1" = compose ]; then shift; docker-compose "$@"; else podman "$@"; fi
}
set -eu
`;

export async function startPodman(folder: string): Promise<Podman> {
  mkdirSync(join(folder, 'networks'), { recursive: true });
  const socket = join(folder, 'podman.sock');
  const env = {
    ...process.env,
    CONTAINERS_CONF: join(folder, 'containers.conf'),
    CONTAINERS_STORAGE_CONF: join(folder, 'storage.conf'),
    DOCKER_HOST: `unix://${socket}`,
  };
  // Podman's defaults exceed what root may set on some machines.
  writeFileSync(
    env.CONTAINERS_CONF,
    `[engine]
runtime = "runc"
cgroup_manager = "cgroupfs"
events_logger = "file"
[network]
network_backend = "netavark"
network_config_dir = "${folder}/networks"
[containers]
default_ulimits = ["nofile=4096:4096", "nproc=1000:1000"]
`,
  );
  writeFileSync(
    env.CONTAINERS_STORAGE_CONF,
    `[storage]\ndriver = "overlay"\ngraphroot = "${folder}/graph"\nrunroot = "${folder}/run"\n`,
  );
  const podman = (...words: string[]) =>
    execFileSync('podman', words, { env, encoding: 'utf8', stdio: 'pipe' });
  const service = programOf(
    spawn('podman', ['system', 'service', '--time=0', `unix://${socket}`], {
      env,
      stdio: ['ignore', 'ignore', 'pipe'],
    }),
  );
  await untilReady(service, 'podman', () => existsSync(socket));
  const health = runHealthChecks(env);
  return {
    podman,
    run(script, { cwd, env: given }) {
      const { status, stdout, stderr } = spawnSync('bash', ['-c', `${DOCKER}${script}`], {
        cwd,
        env: { ...env, ...given },
        encoding: 'utf8',
      });
      if (status !== 0) throw new Error(`exit code ${status}\n${stdout}\n${stderr}`);
      return stdout;
    },
    async stop() {
      await health.stop();
      try {
        podman('rm', '--all', '--force', '--time', '60');
        podman('volume', 'prune', '--force');
        podman('network', 'prune', '--force');
      } finally {
        await service.stop();
        spawnSync('umount', [join(folder, 'graph/overlay')]);
      }
    },
  };
}

/** Runs health checks until they succeed. Podman leaves them to systemd, which this machine may not run. */
function runHealthChecks(env: NodeJS.ProcessEnv): Program {
  const script =
    'while sleep 2; do for id in $(podman ps --quiet --filter health=starting); do podman healthcheck run $id; done; done';
  return programOf(spawn('bash', ['-c', script], { env, stdio: 'ignore' }));
}
