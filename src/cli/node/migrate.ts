// `zonefleet migrate`: brings the schema (and the queue's own) up to date and stores the settings that answers are made of. Run twice, it
// does nothing the second time.

import type { Command } from 'commander';
import { QUEUES } from '../../features/every-feature.ts';
import type { PreparedRoles } from '../../store/roles/roles.ts';
import type { Cli } from '../terminal/cli.ts';

export function addMigrateCommand(program: Command, cli: Cli): void {
  program
    .command('migrate')
    .description('bring the schema up to date and store the settings that answers are made of')
    .option('--roles-sql', 'print what an administrator runs where this role may not make the database roles')
    .option('--force', 'drop names of nameservers although accounts or domains have them in their sets')
    .action(
      async ({ rolesSql: wantsSql = false, force = false }: { rolesSql?: boolean; force?: boolean }) => {
        const { rolesSql, setRolePasswords } = await import('../../store/roles/roles.ts');
        if (wantsSql) {
          await cli.output.print(rolesSql().trimEnd());
          return;
        }
        const { answers, rolePasswords = {}, warnings = [] } = await cli.settings();
        for (const warning of warnings) await cli.output.complain(warning);
        const { migrate } = await import('../../features/migrate.ts');
        const { migrateQueue } = await import('../../jobs/connection.ts');
        await cli.withDatabase(async (db) => {
          await migrateQueue(await cli.queuePlace(), QUEUES); // first, since the roles get rights on the queue's tables too
          const { applied, changed, zones, roles } = await migrate(db, answers, { force });
          await setRolePasswords(db, rolePasswords);
          for (const fault of roleFaults(roles)) await cli.output.complain(fault);
          if (cli.output.json) {
            await cli.output.print(JSON.stringify({ applied, changed, zones, roles: roles.made }));
            return 0;
          }
          for (const role of roles.made) await cli.output.print(`made role ${role}`);
          for (const migration of applied) await cli.output.print(`applied ${migration}`);
          for (const setting of changed) await cli.output.print(`stored ${setting}`);
          if (zones > 0) await cli.output.print(`zones that change with it ${zones}`);
          if (applied.length + changed.length + roles.made.length === 0)
            await cli.output.print('nothing to do');
          return 0;
        });
      },
    );
}

/** One line each. */
function roleFaults({ missing, overpowered }: PreparedRoles): string[] {
  return [
    ...(missing.length === 0
      ? []
      : [
          `this role may not make ${missing.join(', ')}: let an administrator run what \`zonefleet migrate --roles-sql\` prints, then migrate again`,
        ]),
    ...overpowered.map((role) => `${role} may do more than its process needs: alter role ${role} ${PLAIN}`),
  ];
}

const PLAIN = 'nosuperuser nocreatedb nocreaterole nobypassrls';
