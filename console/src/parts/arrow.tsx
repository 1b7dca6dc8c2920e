// An arrow in the direction of reading, or back. It is turned around on a page that is read from right to left.

export function Arrow({ isBack = false }: { readonly isBack?: boolean }) {
  return (
    <span class="arrow" aria-hidden="true">
      {isBack ? '←' : '→'}
    </span>
  );
}
