// `zonefleet migrate`: migrates the schema, including the queue's, and stores the settings that DNS answers depend on. A second
// run changes nothing.

import type { Command } from 'commander';
import { QUEUES } from '../../features/every-feature.ts';
import type { PreparedRoles } from '../../store/roles/roles.ts';
import type { Cli } from '../terminal/cli.ts';
import { commandOf } from '../terminal/commands.ts';
import { showPlan } from './show-plan.ts';

interface MigrateChoices {
  readonly rolesSql?: boolean;
  readonly plan?: boolean;
  readonly force?: boolean;
}

export function addMigrateCommand(program: Command, cli: Cli): void {
  commandOf(program, 'migrate')
    .option(
      '--roles-sql',
      'print the SQL for an administrator to run if this role may not create the database roles',
    )
    .option('--plan', 'print what would be done; exits with 1 if there is anything to do')
    .option('--force', 'remove nameserver names even if accounts or domains use them')
    .action(
      async ({ rolesSql: wantsSql = false, plan: wantsPlan = false, force = false }: MigrateChoices) => {
        const { rolesSql, setRolePasswords } = await import('../../store/roles/roles.ts');
        if (wantsSql) {
          await cli.output.print(rolesSql().trimEnd());
          return;
        }
        const { answers, rolePasswords = {}, warnings = [] } = await cli.settings();
        for (const warning of warnings) await cli.output.complain(warning);
        if (wantsPlan) {
          const { planMigration } = await import('../../features/plan-migration.ts');
          await cli.withDatabase(async (db) =>
            showPlan(await planMigration(db, answers, { force }), cli.output),
          );
          return;
        }
        const { migrate } = await import('../../features/migrate.ts');
        const { migrateQueue } = await import('../../jobs/connection.ts');
        await cli.withDatabase(async (db) => {
          await migrateQueue(await cli.queuePlace(), QUEUES); // first, because the roles also get privileges on the queue's tables
          const { applied, changed, zones, roles } = await migrate(db, answers, {
            force,
            onWait: (reason) => void cli.output.complain(reason),
          });
          await setRolePasswords(db, rolePasswords);
          for (const fault of roleFaults(roles)) await cli.output.complain(fault);
          if (cli.output.json) {
            await cli.output.print(JSON.stringify({ applied, changed, zones, roles: roles.made }));
            return 0;
          }
          for (const role of roles.made) await cli.output.print(`created role ${role}`);
          for (const migration of applied) await cli.output.print(`applied ${migration}`);
          for (const setting of changed) await cli.output.print(`stored ${setting}`);
          if (zones > 0) await cli.output.print(`zones to republish ${zones}`);
          if (applied.length + changed.length + roles.made.length === 0)
            await cli.output.print('nothing to do');
          return 0;
        });
      },
    );
}

/** One line per problem. */
function roleFaults({ missing, overpowered }: PreparedRoles): string[] {
  return [
    ...(missing.length === 0
      ? []
      : [
          `this role may not create ${missing.join(', ')}: let an administrator run the output of \`zonefleet migrate --roles-sql\`, then migrate again`,
        ]),
    ...overpowered.map(
      (role) => `${role} has more privileges than its process needs: run "alter role ${role} ${PLAIN}"`,
    ),
  ];
}

const PLAIN = 'nosuperuser nocreatedb nocreaterole nobypassrls';
