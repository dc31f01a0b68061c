import { signal } from '@preact/signals';
import type { ComponentChild } from 'preact';
import type * as ConnectorModule from './connector-view.tsx';
import { texts } from './texts.ts';

const loaded = signal<typeof ConnectorModule | undefined>(undefined);
let isLoading = false;

/** Charts are loaded when a connector is looked at first. */
export function lazyConnectorView(name: string): ComponentChild {
  if (loaded.value !== undefined) return <loaded.value.ConnectorView key={name} name={name} />;
  if (!isLoading) {
    isLoading = true;
    void import('./connector-view.tsx').then((module) => (loaded.value = module));
  }
  return <p class="empty">{texts.loading}</p>;
}
