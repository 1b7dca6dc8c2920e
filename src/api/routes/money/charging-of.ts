// What the operator has set of charges, as handlers pass it on.

import type { Charging } from '../../../store/money/charge.ts';
import type { Api } from '../../calls/call.ts';

export function chargingOf({ maxNegativeRials = 0, payments: { seller } }: Api): Charging {
  return { maxNegativeRials, seller };
}
