import { fail, ok, warn, type Finding } from '../../data/finding.ts';
import { toError } from '../../errors.ts';
import type { ConnectorConfig, DiagnosisContext } from '../../connect/api.ts';
import { RegistryAnswerError, requestJson } from './registry-request.ts';
import { registrySettings, type RegistrySettings } from './registry-settings.ts';

const TIMEOUT_MS = 4000;
/** A request that a schema registry answers even if it has no schemas. */
const TYPES = { method: 'GET', path: '/schemas/types' } as const;

/** Checks the schema registry of a converter for `sluice doctor`, with one request to each of its URLs. */
export async function diagnoseRegistry(config: ConnectorConfig, { signal }: DiagnosisContext): Promise<Finding[]> {
  const given = registrySettings(config);
  const settings = { ...given, connectTimeoutMs: TIMEOUT_MS / 2, readTimeoutMs: TIMEOUT_MS / 2 };
  return Promise.all(settings.urls.map((url) => finding(url, settings, signal)));
}

async function finding(url: URL, settings: RegistrySettings, signal: AbortSignal): Promise<Finding> {
  const about = `schema registry ${url.href.replace(/\/$/, '')}`;
  try {
    await requestJson(url, TYPES, settings, signal);
    return ok(about, 'answers');
  } catch (error) {
    if (!(error instanceof RegistryAnswerError)) {
      const reason = (error as NodeJS.ErrnoException).code ?? toError(error).message;
      const cure = 'start it, or set schema.registry.url';
      return (settings.urls.length > 1 ? warn : fail)(about, `does not answer: ${reason}`, cure);
    }
    const { status } = error;
    if (status === 401 || status === 403) {
      const cure = 'set basic.auth.credentials.source and basic.auth.user.info, or bearer.auth.token';
      return fail(about, `refuses the credentials (HTTP ${String(status)})`, cure);
    }
    return warn(
      about,
      `answers ${TYPES.method} ${TYPES.path} with HTTP ${String(status)}`,
      'check schema.registry.url',
    );
  }
}
