// Developer mode: the edge bypasses its cache for some hours.

import { api, dataOf } from '../../api/client.ts';
import { serverNowMs } from '../../api/clock.ts';
import { useAction } from '../../api/use-action.ts';
import { Button } from '../../parts/button.tsx';
import { Failure } from '../../parts/failure.tsx';
import { now, Time } from '../../parts/time.tsx';
import { domainSettings } from '../../words/domain-settings.ts';
import { useDomain } from '../domain/domain-here.ts';

const text = domainSettings.developer;
const HOURS = [1, 4, 24];
const HOUR_MS = 3_600_000;
/** The API allows 24 hours by its own clock, which may be slightly behind. */
const SLACK_MS = 60_000;

export function DeveloperMode({ isClosed }: { readonly isClosed: boolean }) {
  const { name, domain, setDomain } = useDomain();
  const until = domain.developer_mode_until;
  const isOn = until !== undefined && Date.parse(until) > now.value;
  const set = useAction(async (hours: number) => {
    const at = new Date(hours === 0 ? 0 : serverNowMs() + hours * HOUR_MS - SLACK_MS).toISOString();
    const params = { path: { domain: name } };
    setDomain(await dataOf(api.PUT('/domains/{domain}', { params, body: { developer_mode_until: at } })));
  });
  return (
    <section class="card">
      <h2>{text.title}</h2>
      <p class="quiet">{text.text}</p>
      <p role="status">
        {isOn ? (
          <strong>
            {text.until} <Time at={until} />.
          </strong>
        ) : (
          text.off
        )}
      </p>
      <div class="row">
        {isOn && (
          <Button isBusy={set.isBusy} disabled={isClosed} onClick={() => void set.run(0)}>
            {text.end}
          </Button>
        )}
        {HOURS.map((hours) => (
          <Button key={hours} isBusy={set.isBusy} disabled={isClosed} onClick={() => void set.run(hours)}>
            {text.on(hours)}
          </Button>
        ))}
      </div>
      <Failure error={set.error} />
    </section>
  );
}
