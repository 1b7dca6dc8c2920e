// dnsdist as a proxy for DNS over TLS in front of another server, without a cache. Its processor time does not include that of
// the server.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { freePort } from '../../test/support/processes/free-port.ts';
import { versionOf } from './installed.ts';
import { launch, makeDirectory, type RunningServer, type StartOptions } from './server.ts';

export const dnsdist = {
  name: 'dnsdist',
  title: 'dnsdist, without its backend',
  version: () => versionOf(['dnsdist', '--version'], /dnsdist (\d[\d.]+)/),
  async start(backend: RunningServer, options: StartOptions): Promise<RunningServer> {
    const directory = makeDirectory('dnsdist');
    const [port, dot] = [await freePort(), await freePort()];
    const file = join(directory.path, 'dnsdist.conf');
    const lines = [
      `addLocal('${options.address}:${port}')`,
      `addTLSLocal('${options.address}:${dot}', '${options.tls?.cert}', '${options.tls?.key}')`,
      `newServer({address='${backend.address}:${backend.port}', healthCheckMode='up'})`,
      'setMaxTCPClientThreads(1)',
      'setSecurityPollSuffix("")',
    ];
    writeFileSync(file, `${lines.join('\n')}\n`);
    const command = ['dnsdist', '--supervised', '--disable-syslog', '-C', file];
    const running = await launch('dnsdist', command, { ...options, port, onStop: directory.remove });
    return { ...running, encrypted: { dot, doh: 0 } };
  },
} as const;
