// `zonefleet migrate`: brings the schema (and the queue's own) up to date and stores the settings that answers are made of. Run twice, it
// does nothing the second time.

import type { Command } from 'commander';
import type { Cli } from './cli.ts';

export function addMigrateCommand(program: Command, cli: Cli): void {
  program
    .command('migrate')
    .description('bring the schema up to date and store the settings that answers are made of')
    .action(async () => {
      const { answers } = await cli.settings();
      const { migrate } = await import('../store/migrate.ts');
      const { migrateQueue } = await import('../queue/connection.ts');
      await cli.withDatabase(async (db) => {
        const { applied, changed, zones } = await migrate(db, answers);
        await migrateQueue(await cli.queuePlace());
        if (cli.output.json) {
          await cli.output.print(JSON.stringify({ applied, changed, zones }));
          return 0;
        }
        for (const migration of applied) await cli.output.print(`applied ${migration}`);
        for (const setting of changed) await cli.output.print(`stored ${setting}`);
        if (zones > 0) await cli.output.print(`zones that change with it ${zones}`);
        if (applied.length + changed.length === 0) await cli.output.print('nothing to do');
        return 0;
      });
    });
}
