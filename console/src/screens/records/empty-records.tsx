// Shown for a domain without records, with shortcuts for the most common ones.

import { domainPath, Link } from '../../app/place.tsx';
import { Button } from '../../parts/button.tsx';
import { Empty } from '../../parts/failure.tsx';
import { words } from '../../words/words.ts';
import type { Typed } from './typed.ts';

interface EmptyProps {
  readonly domain: string;
  readonly canEdit: boolean;
  readonly onAdd: (typed: Partial<Typed>) => void;
}

export function EmptyRecords({ domain, canEdit, onAdd }: EmptyProps) {
  const say = words.records.empty;
  if (!canEdit) return <Empty title={say.title} />;
  return (
    <Empty title={say.title}>
      <p>{say.text}</p>
      <div class="row rec-starts">
        <Link to={domainPath(domain, 'records/scan')} class="button main">
          {say.scan}
        </Link>
        <Link to={domainPath(domain, 'records/import')} class="button">
          {say.import}
        </Link>
        <Button onClick={() => onAdd({ name: '@', type: 'A' })}>{say.website}</Button>
        <Button onClick={() => onAdd({ name: 'www', type: 'CNAME' })}>{say.www}</Button>
        <Button onClick={() => onAdd({ name: '@', type: 'MX', mx_priority: '10' })}>{say.mail}</Button>
        <Button onClick={() => onAdd({ name: '@', type: 'TXT' })}>{say.text_record}</Button>
      </div>
    </Empty>
  );
}
