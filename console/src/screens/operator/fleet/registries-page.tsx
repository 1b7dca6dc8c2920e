// Checked domains by parent zone, which shows outages of a registry, and what the breaker holds.

import { useState } from 'preact/hooks';
import type { components } from '../../../api/admin-schema.d.ts';
import { admin, dataOf } from '../../../api/client.ts';
import { useLoad } from '../../../api/use-load.ts';
import { Button } from '../../../parts/button.tsx';
import { Empty } from '../../../parts/failure.tsx';
import { Loading } from '../../../parts/loading.tsx';
import { Badge } from '../../../parts/status.tsx';
import { now } from '../../../parts/time.tsx';
import { operator } from '../../../words/operator.ts';
import { words } from '../../../words/words.ts';
import { Freshness, useEvery10s } from '../fresh.tsx';
import { findProblems, isHolding } from './find-problems.ts';
import { FreezeBreaker } from './freeze-breaker.tsx';
import { HoursTable } from './hours-table.tsx';
import { ProblemList } from './problem-list.tsx';
import { registryRows } from './registry-rows.ts';
import { RegistryTable } from './registry-table.tsx';
import { TripTable } from './trip-table.tsx';

type Breaker = components['schemas']['Breaker'];
const say = operator.registries;

export default function RegistriesPage() {
  const breaker = useLoad('breaker', (signal) => dataOf(admin.GET('/admin/breaker', { signal })));
  const registries = useLoad('registries', (signal) => dataOf(admin.GET('/admin/registries', { signal })));
  const [isFreezing, setFreezing] = useState(false);
  useEvery10s(() => {
    void breaker.reload();
    void registries.reload();
  });
  return (
    <div class="stack">
      <div class="head">
        <h1>{words.frame.operatorPages.registries}</h1>
        {breaker.data !== undefined && (
          <Badge tone={breaker.data.held ? 'bad' : 'good'}>{breaker.data.held ? say.held : say.flows}</Badge>
        )}
        <div class="actions">
          <Button kind="danger" onClick={() => setFreezing(true)}>
            {say.freeze}
          </Button>
          <Freshness of={breaker} />
        </div>
      </div>
      {isFreezing && (
        <FreezeBreaker
          parents={parentsOf(breaker.data)}
          onDone={() => {
            setFreezing(false);
            void breaker.reload();
          }}
          onClose={() => setFreezing(false)}
        />
      )}
      <p class="quiet">{say.text}</p>
      <Loading of={breaker}>
        {(data) => (
          <>
            {data.trips.some(isHolding) && (
              <ProblemList
                problems={findProblems({ trips: data.trips }, now.value)}
                onMended={() => void breaker.reload()}
              />
            )}
            <Registries breaker={data} />
            <section>
              <h2>{say.hours}</h2>
              <p class="quiet">{say.hoursText}</p>
              <Loading of={registries}>{(rows) => <HoursTable registries={rows} />}</Loading>
            </section>
            <section>
              <h2>{say.trips}</h2>
              <TripTable trips={data.trips} />
            </section>
          </>
        )}
      </Loading>
    </div>
  );
}

function parentsOf(breaker: Breaker | undefined): readonly string[] {
  return (breaker?.parents ?? []).flatMap(({ parent }) => parent ?? []);
}

function Registries({ breaker }: { readonly breaker: Breaker }) {
  if (breaker.checked === 0) {
    return (
      <Empty title={say.none}>
        <p>{say.noneText}</p>
      </Empty>
    );
  }
  return <RegistryTable rows={registryRows(breaker)} />;
}
