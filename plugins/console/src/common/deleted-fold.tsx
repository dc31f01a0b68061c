import { useState } from 'preact/hooks';
import { texts } from '../texts/frame.ts';
import { lazy } from './lazy.tsx';

const DeletedConnectors = lazy(() =>
  import('../connector/deleted-connectors.tsx').then((module) => module.DeletedConnectors),
);

/** Connectors that were deleted, asked for when it is opened. */
export function DeletedFold() {
  const [isOpen, setOpen] = useState(false);
  return (
    <details
      class="further"
      onToggle={({ currentTarget }) => {
        setOpen(currentTarget.open);
      }}
    >
      <summary>{texts.deletedConnectors}</summary>
      {isOpen ? <DeletedConnectors /> : null}
    </details>
  );
}
