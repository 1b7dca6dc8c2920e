// The period of a page, in its URL.

import './periods.css';
import { usePlace } from '../../app/place.tsx';
import { traffic } from '../../words/traffic.ts';
import { DEFAULT_PERIOD, type Period } from './series.ts';

interface PeriodsProps {
  readonly periods: readonly Period[];
  readonly chosen: Period;
}

export function Periods({ periods, chosen }: PeriodsProps) {
  const { setQuery } = usePlace();
  return (
    <fieldset class="traffic-periods">
      <legend class="only-read">{traffic.period}</legend>
      {periods.map((each) => (
        <label key={each}>
          <input
            type="radio"
            name="period"
            value={each}
            checked={each === chosen}
            onChange={() => setQuery({ period: each === DEFAULT_PERIOD ? undefined : each })}
          />
          <span>{traffic.periods[each]}</span>
        </label>
      ))}
    </fieldset>
  );
}
