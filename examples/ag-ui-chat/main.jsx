/* SPDX-License-Identifier: ISC */
// A chat over AG-UI: it shows messages as they are streamed, runs a tool in the page, and has buttons for the agent's
// questions.  ?url= names another service.
import { HttpAgent } from '@ag-ui/client';
import {
	AssistantRuntimeProvider, ComposerPrimitive, MessagePrimitive, ThreadPrimitive, useAssistantTool,
} from '@assistant-ui/react';
import { useAgUiInterrupts, useAgUiRuntime, useAgUiSubmitInterruptResponses } from '@assistant-ui/react-ag-ui';
import { useMemo, useState } from 'react';
import { createRoot } from 'react-dom/client';

const url = new URLSearchParams(location.search).get('url') ?? 'http://127.0.0.1:8080/v1/ag-ui';

function Text({ text }) {
	return <span className="text">{text}</span>;
}

function Reasoning({ text }) {
	return <div className="reasoning">{text}</div>;
}

function Tool({ toolName, argsText, result }) {
	const shown = typeof result === 'string' ? result : JSON.stringify(result);
	return <div className="tool">{`${toolName}(${argsText})${result === undefined ? '' : ` → ${shown}`}`}</div>;
}

const parts = { Text, Reasoning, tools: { Fallback: Tool } };

const UserMessage = () => (
	<MessagePrimitive.Root className="message user"><MessagePrimitive.Parts components={parts} /></MessagePrimitive.Root>
);

const AssistantMessage = () => (
	<MessagePrimitive.Root className="message assistant"><MessagePrimitive.Parts components={parts} /></MessagePrimitive.Root>
);

// A tool that only a browser can have: the agent calls it, and the page runs it.
function PageTitle() {
	useAssistantTool({
		toolName: 'page_title',
		type: 'frontend',
		description: 'Reads or sets the title of the page that the user looks at',
		parameters: { type: 'object', properties: { title: { type: 'string' } } },
		execute: async ({ title }) => {
			if (title)
				document.title = title;
			return document.title;
		},
		render: Tool,
	});
	return null;
}

// What the agent asks before it goes on.
function Interrupts() {
	const interrupts = useAgUiInterrupts();
	const submit = useAgUiSubmitInterruptResponses();
	const answer = (id, status, payload) => submit([{ interruptId: id, status, ...(payload && { payload }) }]);
	return interrupts.map(({ id, message, metadata }) => (
		<div className="interrupt" key={id}>
			<p>{message ?? metadata?.value?.question ?? 'May I go on?'}</p>
			<button type="button" onClick={() => answer(id, 'resolved', 'yes')}>Approve</button>
			<button type="button" onClick={() => answer(id, 'cancelled')}>Cancel</button>
		</div>
	));
}

function Chat() {
	const agent = useMemo(() => new HttpAgent({ url, threadId: crypto.randomUUID() }), []);
	const [failure, setFailure] = useState('');
	const runtime = useAgUiRuntime({ agent, onError: (error) => setFailure(error.message) });
	return (
		<AssistantRuntimeProvider runtime={runtime}>
			<PageTitle />
			<ThreadPrimitive.Root className="chat">
				<ThreadPrimitive.Viewport className="messages">
					<ThreadPrimitive.Messages components={{ UserMessage, AssistantMessage }} />
					<Interrupts />
					<p className="failure">{failure}</p>
				</ThreadPrimitive.Viewport>
				<ComposerPrimitive.Root className="composer">
					<ComposerPrimitive.Input placeholder="Say something" autoFocus />
					<ComposerPrimitive.Send>Send</ComposerPrimitive.Send>
				</ComposerPrimitive.Root>
			</ThreadPrimitive.Root>
		</AssistantRuntimeProvider>
	);
}

createRoot(document.getElementById('chat')).render(<Chat />);
