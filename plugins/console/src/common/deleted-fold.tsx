import { Fold } from '../kit/fold.tsx';
import { texts } from '../texts/frame.ts';
import { lazy } from './lazy.tsx';

const DeletedConnectors = lazy(() =>
  import('../connector/deleted-connectors.tsx').then((module) => module.DeletedConnectors),
);

/** A fold with the deleted connectors, which are loaded when the user opens it. */
export function DeletedFold() {
  return (
    <Fold title={texts.deletedConnectors} class="further">
      {() => <DeletedConnectors />}
    </Fold>
  );
}
