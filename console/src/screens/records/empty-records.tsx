// Shown for a domain without records, with shortcuts for the most common ones.

import { domainPath, Link } from '../../app/place.tsx';
import { Empty } from '../../parts/failure.tsx';
import { records } from '../../words/records.ts';

interface EmptyProps {
  readonly domain: string;
  readonly canEdit: boolean;
}

export function EmptyRecords({ domain, canEdit }: EmptyProps) {
  const say = records.empty;
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
        <Link to={domainPath(domain, 'records/email')} class="button">
          {say.email}
        </Link>
        <Link to={domainPath(domain, 'records/templates')} class="button">
          {say.template}
        </Link>
      </div>
    </Empty>
  );
}
