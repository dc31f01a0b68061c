import { Fold } from '../kit/fold.tsx';
import { texts } from '../texts/frame.ts';
import { lazy } from './lazy.tsx';

const DeletedConnectors = lazy(() =>
  import('../connector/deleted-connectors.tsx').then((module) => module.DeletedConnectors),
);

/** Connectors that were deleted, asked for when it is opened. */
export function DeletedFold() {
  return (
    <Fold title={texts.deletedConnectors} class="further">
      {() => <DeletedConnectors />}
    </Fold>
  );
}
