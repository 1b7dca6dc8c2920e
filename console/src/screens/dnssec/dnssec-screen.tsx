// DNSSEC of a domain: its state, the DS record to enter, its keys, and the DS records in the parent zone.

import './dnssec.css';
import { useEffect } from 'preact/hooks';
import { api, dataOf } from '../../api/client.ts';
import { followDomain } from '../../api/events.ts';
import { useLoad } from '../../api/use-load.ts';
import { Note } from '../../parts/failure.tsx';
import { Loading } from '../../parts/loading.tsx';
import { dnssec as dnssecWords } from '../../words/dnssec.ts';
import { useDomain } from '../domain/domain-here.ts';
import { Actions } from './actions.tsx';
import { Keys } from './keys.tsx';
import { Parent } from './parent.tsx';
import { RegistrarCard } from './registrar-card.tsx';
import { Findings, Standing } from './standing.tsx';
import type { Dnssec } from './steps.ts';

const text = dnssecWords;

/** Steps take hours or days; a requested check takes seconds. */
const ASK_MS = 20_000;
const SOON_MS = 3000;

export default function DnssecScreen() {
  const { name, domain, reloadDomain } = useDomain();
  const loaded = useLoad(`dnssec ${name}`, (signal) =>
    dataOf(api.GET('/domains/{domain}/dnssec', { params: { path: { domain: name } }, signal })),
  );
  const { reload, data } = loaded;

  useEffect(() => {
    const timer = setInterval(() => {
      if (!document.hidden) void reload();
    }, ASK_MS);
    let soon: ReturnType<typeof setTimeout> | undefined;
    const end = followDomain(name, ({ type }) => {
      if (type !== 'change' && type !== 'check' && type !== 'reset') return;
      clearTimeout(soon);
      soon = setTimeout(reload, 300);
    });
    return () => {
      clearInterval(timer);
      clearTimeout(soon);
      end();
    };
  }, [name, reload]);

  const status = data?.status;
  useEffect(() => {
    if (status !== undefined && status !== domain.dnssec.status) void reloadDomain();
  }, [status, domain.dnssec.status, reloadDomain]);

  const onChanged = (changed: Dnssec) => {
    loaded.set(changed);
    setTimeout(reload, SOON_MS);
  };
  return (
    <Loading of={loaded}>
      {(dnssec) => (
        <div class="stack dnssec">
          {domain.dns_mode === 'external' && (
            <Note>
              <p>{text.external}</p>
            </Note>
          )}
          <Standing dnssec={dnssec} />
          <Actions dnssec={dnssec} onChanged={onChanged} />
          <Findings dnssec={dnssec} />
          <div class="dnssec-columns">
            <RegistrarCard dnssec={dnssec} />
            <Keys dnssec={dnssec} />
          </div>
          <Parent dnssec={dnssec} onChanged={onChanged} />
          {dnssec.leaving !== undefined && (
            <details class="card">
              <summary>{text.leaving}</summary>
              <p>{dnssec.leaving.message}</p>
            </details>
          )}
        </div>
      )}
    </Loading>
  );
}
