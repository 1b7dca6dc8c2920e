// The mark and the name of the product.

export function Brand() {
  return (
    <>
      <Mark />
      Zonefleet
    </>
  );
}

function Mark() {
  return (
    <svg viewBox="0 0 32 32" aria-hidden="true">
      <path fill="#2257c5" d="M16 2 28 9v14l-12 7L4 23V9z" />
      <path
        fill="none"
        stroke="#fff"
        stroke-width="2.4"
        stroke-linejoin="round"
        stroke-linecap="round"
        d="M16 9v5m0 0-6 4v4m6-8 6 4v4"
      />
      <circle cx="16" cy="8.6" r="2.4" fill="#fff" />
      <circle cx="10" cy="22.4" r="2.4" fill="#fff" />
      <circle cx="22" cy="22.4" r="2.4" fill="#fff" />
    </svg>
  );
}
