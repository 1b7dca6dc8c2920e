// Lists what a plan includes.

import { plan as planWords } from '../../words/plan.ts';
import { words } from '../../words/words.ts';

const FEATURES = [
  'rules_enabled',
  'monitoring_enabled',
  'logs_enabled',
  'cache_purge_enabled',
  'custom_ssl_enabled',
  'ws_enabled',
  'host_header_edit_enabled',
  'dedicated_support_enabled',
] as const;
const LIMITS = ['max_records', 'max_traffic_gb', 'max_rules_per_set'] as const;

type Included = Readonly<
  Record<(typeof FEATURES)[number], boolean> & Record<(typeof LIMITS)[number], number | null>
>;

export function includedIn(plan: Included): string[] {
  const { limits, features, unlimited } = planWords.included;
  return [
    ...LIMITS.map((limit) => {
      const amount = plan[limit];
      return amount === null ? unlimited[limit] : limits[limit](amount.toLocaleString(words.locale));
    }),
    ...FEATURES.filter((feature) => plan[feature]).map((feature) => features[feature]),
  ];
}
