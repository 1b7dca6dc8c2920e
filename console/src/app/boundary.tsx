// Contains the failure of a screen: the error is shown in its place, and other screens still work.

import { Component, type ComponentChildren, type FunctionComponent } from 'preact';
import { ErrorBoundary, lazy } from 'preact-iso';
import { Button } from '../parts/button.tsx';
import { Note } from '../parts/failure.tsx';
import { words } from '../words/words.ts';
import { usePlace } from './place.tsx';

interface BoundaryProps {
  readonly children: ComponentChildren;
}

/** For routes whose screens may fail. */
export function Boundary({ children }: BoundaryProps) {
  return <Catching path={usePlace().path}>{children}</Catching>;
}

/** The same for components without routes. A class, because Preact catches an error only in a component that then sets its state. */
export class Catching extends Component<
  BoundaryProps & { readonly path: string },
  { failedAt?: string | undefined }
> {
  override componentDidCatch(error: unknown) {
    console.error(error); // Preact does not log caught errors
    this.setState({ failedAt: this.props.path });
  }

  override render() {
    // The inner boundary waits for a `lazyScreen` that is not in a router.
    if (this.state.failedAt !== this.props.path) return <ErrorBoundary>{this.props.children}</ErrorBoundary>;
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
 * A screen that is loaded when it is first opened. If its file cannot be loaded, rendering fails, which a boundary shows; the next
 * rendering loads it again. `preload` loads it before it is rendered.
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
