import { StageTracker } from '../../observe/stage.ts';
import type { Read } from '../reading.ts';
import { ConnectorPreview, type PreviewDependencies } from './connector-preview.ts';
import type { PreviewRequest } from './preview-request.ts';

const TIMEOUT_MS = 85_000;

export interface PreviewReading {
  readonly feature: 'preview';
  readonly plugin: string;
  readonly request: PreviewRequest;
}

/** Requests a preview of what a sink would do with messages, as `ConnectorPreview` returns it. */
export class PreviewReadings {
  readonly #read: Read<PreviewReading>;

  constructor(read: Read<PreviewReading>) {
    this.#read = read;
  }

  preview(plugin: string, request: PreviewRequest, signal: AbortSignal): Promise<string> {
    return this.#read({ feature: 'preview', plugin, request }, { signal, timeoutMs: TIMEOUT_MS });
  }
}

/** Performs the reading in this thread. */
export function readPreview(
  { plugin, request }: PreviewReading,
  parts: PreviewDependencies,
  signal: AbortSignal,
): Promise<string> {
  return new ConnectorPreview(parts).preview(plugin, request, new StageTracker(), signal);
}
