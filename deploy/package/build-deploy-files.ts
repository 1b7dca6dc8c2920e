// Archives the files for Docker Compose, Kubernetes, Grafana and Prometheus, so that no clone is needed to use them.

import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Build } from './build.ts';

const FOLDERS = ['compose', 'grafana', 'helm', 'prometheus'];

interface DeployFilesOptions {
  readonly root: string;
  readonly build: Build;
  readonly output: string;
}

/** Returns the path of the archive. The same files give the same archive. */
export function buildDeployFiles({ root, build, output }: DeployFilesOptions): string {
  const name = `zonefleet-${build.version}-deploy`;
  const file = join(output, `${name}.tar.gz`);
  const folders = FOLDERS.filter((folder) => existsSync(join(root, 'deploy', folder)));
  execFileSync(
    'tar',
    [
      ...['--create', '--format', 'ustar', '--sort', 'name', '--mtime', `@${build.epoch}`],
      ...['--owner', '0', '--group', '0', '--numeric-owner', '--mode', 'u=rwX,go=rX'],
      // Files that a developer has created in deploy/compose.
      ...['--exclude', 'compose/secrets*', '--exclude', 'compose/.env', '--exclude', 'compose/zones'],
      ...['--exclude', 'grafana/make-dashboards.*'],
      ...['--transform', `s,^,${name}/,`, '--use-compress-program', 'gzip -9n'],
      ...['--file', file, '--directory', join(root, 'deploy'), ...folders],
    ],
    { stdio: ['ignore', 'ignore', 2] },
  );
  return file;
}
