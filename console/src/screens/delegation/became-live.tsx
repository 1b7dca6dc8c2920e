// Said once, quietly, when the domain turned active while the page was open.

import { domainPath, Link } from '../../app/place.tsx';
import { Button } from '../../parts/button.tsx';
import { words } from '../../words/words.ts';
import type { Domain } from '../domain/domain-here.ts';
import { hasPage } from '../domain/domain-pages.ts';

const text = words.delegation.live;

export function BecameLive({ domain, onClose }: { readonly domain: Domain; readonly onClose: () => void }) {
  const isManaged = domain.dns_mode === 'managed';
  const name = domain.name_unicode;
  return (
    <section class="card delegation-live" role="status">
      <svg viewBox="0 0 52 52" aria-hidden="true">
        <circle cx="26" cy="26" r="23" />
        <path d="M15 27l8 8 15-17" />
      </svg>
      <div>
        <h2>{isManaged ? text.title(name) : text.proved(name)}</h2>
        <p>{isManaged ? text.text : text.textProved}</p>
        <ul>
          {isManaged && (
            <>
              <Next domain={domain} page="records" />
              {domain.dnssec.status === 'off' && <Next domain={domain} page="dnssec" />}
            </>
          )}
          <Next domain={domain} page="certificates" />
          <Next domain={domain} page="traffic" />
        </ul>
        <Button onClick={onClose}>{text.close}</Button>
      </div>
    </section>
  );
}

function Next({
  domain,
  page,
}: {
  readonly domain: Domain;
  readonly page: 'records' | 'dnssec' | 'certificates' | 'traffic';
}) {
  if (!hasPage(page, domain)) return null;
  return (
    <li>
      <Link to={domainPath(domain.name, page)}>{text[page]}</Link>
    </li>
  );
}
