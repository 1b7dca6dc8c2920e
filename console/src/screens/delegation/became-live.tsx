// Shown once if the domain becomes active while the page is open.

import { domainPath, Link } from '../../app/place.tsx';
import { Button } from '../../parts/button.tsx';
import { delegation } from '../../words/delegation.ts';
import type { Domain } from '../domain/domain-here.ts';
import { hasPage } from '../domain/domain-pages.ts';

const text = delegation.live;

export function BecameLive({ domain, onClose }: { readonly domain: Domain; readonly onClose: () => void }) {
  const isManaged = domain.dns_mode === 'managed';
  const name = domain.name_unicode;
  const next = nextPages(domain);
  return (
    <section class="card delegation-live" role="status">
      <svg viewBox="0 0 52 52" aria-hidden="true">
        <circle cx="26" cy="26" r="23" />
        <path d="M15 27l8 8 15-17" />
      </svg>
      <div>
        <h2>{isManaged ? text.title(name) : text.proved(name)}</h2>
        <p>
          {isManaged ? text.text : text.textProved} {next.length > 0 && text.next}
        </p>
        <ul>
          {next.map((page) => (
            <li key={page}>
              <Link to={domainPath(domain.name, page)}>{text[page]}</Link>
            </li>
          ))}
        </ul>
        <Button onClick={onClose}>{text.close}</Button>
      </div>
    </section>
  );
}

/** Next steps for a domain that has just become live, if a page exists for them. */
function nextPages(domain: Domain) {
  const pages = ['records', 'dnssec', 'certificates', 'traffic'] as const;
  return pages.filter((page) => {
    if (page === 'records' && domain.dns_mode === 'external') return false;
    if (page === 'dnssec' && (domain.dns_mode === 'external' || domain.dnssec.status !== 'off')) return false;
    return hasPage(page, domain);
  });
}
