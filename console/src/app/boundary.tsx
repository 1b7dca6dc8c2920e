// A screen that fails takes nothing else with it: it is told, and the next screen is shown as if nothing had been.

import { Component, type ComponentChildren, type FunctionComponent } from 'preact';
import { lazy } from 'preact-iso';
import { Button } from '../parts/button.tsx';
import { Note } from '../parts/failure.tsx';
import { words } from '../words/words.ts';
import { usePlace } from './place.tsx';

interface BoundaryProps {
  readonly children: ComponentChildren;
}

/** Around the routes whose screens may fail. */
export function Boundary({ children }: BoundaryProps) {
  return <Catching path={usePlace().path}>{children}</Catching>;
}

/**
 * The same for what has no places. A class, since Preact takes an error as caught only by a component that changes its own
 * state at it.
 */
export class Catching extends Component<
  BoundaryProps & { readonly path: string },
  { failedAt?: string | undefined }
> {
  override componentDidCatch(error: unknown) {
    console.error(error); // Preact says nothing of what is caught
    this.setState({ failedAt: this.props.path });
  }

  override render() {
    if (this.state.failedAt !== this.props.path) return this.props.children;
    return (
      <div role="alert">
        <Note tone="bad">
          <p>{words.failures.screenNotLoaded}</p>
          <p class="row">
            <Button onClick={() => this.setState({ failedAt: undefined })}>{words.common.tryAgain}</Button>
            <Button onClick={() => location.reload()}>{words.common.reload}</Button>
          </p>
        </Note>
      </div>
    );
  }
}

/**
 * A screen that is loaded when it is first opened. One whose file does not come fails as it is drawn, which a boundary tells; when
 * it is drawn the next time, it is loaded again. `preload` loads it before it is drawn.
 */
export function lazyScreen<P extends object>(load: () => Promise<{ default: FunctionComponent<P> }>) {
  const begin = () =>
    lazy(() =>
      load().catch((error: unknown) => ({
        default: (): never => {
          Current = begin();
          throw error;
        },
      })),
    );
  let Current = begin();
  return Object.assign((props: P) => <Current {...props} />, { preload: () => void Current.preload() });
}
