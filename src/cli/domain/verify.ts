// `zonefleet verify NAME`: does for operators what POST …/verify does for customers.

import type { Command } from 'commander';
import type { VerifyJob } from '../../queue/jobs.ts';
import type { Cli } from '../terminal/cli.ts';
import { parseZoneName } from '../terminal/parse-zone-name.ts';

export function addVerifyCommand(program: Command, cli: Cli): void {
  program
    .command('verify')
    .description(
      'have the TXT record of a domain in external mode looked for now; exit 1 unless it is verified',
    )
    .argument('<name>', "the domain's name")
    .action(async (text: string) => {
      const name = parseZoneName(text);
      const signal = cli.interruptible();
      const { verifyDomain } = await import('./verify-domain.ts');
      const { VERIFY_TXT } = await import('../../queue/jobs.ts');
      await cli.withQueue(VERIFY_TXT, (db, queue) => {
        const enqueue = (job: VerifyJob) => queue.enqueueNow(job);
        return verifyDomain(db, name, { enqueue, signal }, cli.output);
      });
    });
}
