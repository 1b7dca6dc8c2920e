// Shown for unknown addresses.

import { Empty } from '../parts/failure.tsx';
import { words } from '../words/words.ts';
import { Link } from './place.tsx';

export function NotFound() {
  return (
    <Empty title={words.notFound.title}>
      <p>{words.notFound.text}</p>
      <Link to="/domains" class="button">
        {words.notFound.back}
      </Link>
    </Empty>
  );
}
