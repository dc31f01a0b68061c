import type {
  ConverterPlugin,
  HeaderConverterPlugin,
  PredicatePlugin,
  TransformationPlugin,
} from './api/conversion.ts';
import type { SinkConnectorPlugin } from './api/sink.ts';
import type { SourceConnectorPlugin } from './api/source.ts';

/** The interfaces between the worker and its plugins. docs/plugins.md shows how to implement them. */
export type { Connector, ConnectorConfig, ConnectorContext, DiagnosisContext } from './api/connector.ts';
export type * from './api/conversion.ts';
export type * from './api/service.ts';
export type * from './api/sink.ts';
export type * from './api/source.ts';
export type { ConnectRecord, Header } from '../data/record.ts';

export type ConnectorPlugin = SinkConnectorPlugin | SourceConnectorPlugin;

export type Plugin = ConnectorPlugin | ConverterPlugin | HeaderConverterPlugin | TransformationPlugin | PredicatePlugin;
