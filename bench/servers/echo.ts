// The lower bound in C: receives and sends without any work in between. Requires a compiler.

import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { freePort } from '../../test/support/processes/free-port.ts';
import { runToEnd } from '../program.ts';
import { versionOf } from './installed.ts';
import { launch, makeDirectory, type Server } from './server.ts';

const SOURCE = fileURLToPath(new URL('../echo.c', import.meta.url));

export const echo: Server = {
  name: 'echo',
  title: 'C echo (the floor)',
  isEcho: true,
  version: () => versionOf(['cc', '--version'], /\s(\d+\.\d+\.\d+)/),
  async start(options) {
    const directory = makeDirectory('echo');
    const program = join(directory.path, 'echo');
    await runToEnd(['cc', '-O2', '-o', program, SOURCE], { timeoutMs: 30_000 });
    const port = await freePort();
    return launch('echo', [program, String(port), options.address], {
      ...options,
      port,
      isEcho: true,
      onStop: directory.remove,
    });
  },
};
