// Uptime: incidents in which the origins of a domain are down, as edges report them (docs/api.md "Uptime").

import { grants } from '../../store/roles/role-privileges.ts';
import type { Feature, WriteLetter } from '../feature.ts';
import { writeOutageLetter } from './rules.ts';

const outageLetter =
  (isOver: boolean): WriteLetter =>
  ({ email, domain, message }, publicUrl) =>
    domain === null || message === null
      ? undefined
      : writeOutageLetter(email, { domain, message, isOver, publicUrl });

export const uptime: Feature = {
  name: 'uptime',
  schema: ['tables.sql'],
  privileges: {
    tables: {
      uptime_round: grants('', 's', 'su'),
      uptime_states: grants('', '', 'siud'), // deleted with their domain, as incidents are
      uptime_incidents: grants('', 's', 'siud'),
      outage_mails: grants('', '', ''), // written by `order_outage_mail`
    },
    functions: { 'order_outage_mail(bigint, text, boolean)': ['zonefleet_worker'] },
  },
  retention: {
    // Periods are at most 30 days.
    uptime_incidents: `started_at < now() - interval '90 days' and ended_at is not null`,
    // A window is at most an hour, so a state that is a day old has no effect.
    uptime_states: `state->>'kind' = 'run' and judged < extract(epoch from now()) / 60 - 1440`,
  },
  letters: { outage: outageLetter(false), 'outage-over': outageLetter(true) },
  routes: async () => [(await import('./routes.ts')).getUptime],
  rounds: async () => [(await import('./job.ts')).startUptime],
};
