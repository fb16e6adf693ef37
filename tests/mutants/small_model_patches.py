"""Mutants of what makes small models usable: their prompts, their sizes, their slots, what is said
of them.
"""

from tests.mutants.mutant import Mutant

PROMPTS = "tests/bot/agent/test_small_prompts.py"
WINDOWS = "tests/bot/agent/test_small_windows.py"
FACTS = "tests/bot/models/test_model_facts.py"

SMALL_MODELS = (
    Mutant(
        name="tools for files stand in every prompt",
        guards="small models",
        file="bot/tools/registry.py",
        target="OfferedTools._current",
        old="has_files=not is_small and self._workspace.has_files(space)",
        new="has_files=True",
        tests=(PROMPTS,),
    ),
    Mutant(
        name="every window is large",
        guards="small models",
        file="bot/tools/registry.py",
        target="OfferedTools._current",
        old="is_small = window < SMALL_WINDOW",
        new="is_small = window < 0",
        tests=(PROMPTS,),
    ),
    Mutant(
        name="what is used has no bound in a small prompt",
        guards="small models",
        file="bot/tools/deferred.py",
        target="PromptNeeds._find_used",
        old="if cost <= left:",
        new="if cost:",
        tests=(PROMPTS,),
    ),
    Mutant(
        name="tools are hidden where nothing finds them",
        guards="small models",
        file="bot/tools/deferred.py",
        target="PromptNeeds.find_deferred",
        old="if not _FINDERS.isdisjoint(off):",
        new="if _FINDERS <= set(off):",
        tests=(PROMPTS,),
    ),
    Mutant(
        name="balanced has the same sizes in a small request",
        guards="small models",
        file="memory/context/policies/policies.py",
        target="_scaled_sizes",
        old="budget >= FULL_BUDGET",
        new="budget >= 0",
        tests=(f"{WINDOWS}::test_balanced_scales_its_sizes_with_the_request",),
    ),
    Mutant(
        name="several slots count as one",
        guards="small models",
        file="bot/models/service.py",
        target="ModelService.replies_come_first",
        old="self.windows.slots(self.served_model(self.fast_name)) == 1",
        new="self.windows.slots(self.served_model(self.fast_name)) >= 1",
        tests=(FACTS,),
    ),
    Mutant(
        name="the server's word holds against the settings",
        guards="small models",
        file="bot/models/service.py",
        target="ModelService.replies_come_first",
        old="if 'background' in self._llm.model_fields_set:",
        new="if self._llm.background == 'idle':",
        tests=(FACTS,),
    ),
    Mutant(
        name="thoughts are kept for ever",
        guards="small models",
        file="bot/models/providers/openai.py",
        target="OpenAIModel._note_thinking",
        old="while len(self._thoughts) > MAX_THOUGHTS:",
        new="while len(self._thoughts) > 2 * MAX_THOUGHTS:",
        tests=(FACTS,),
    ),
    Mutant(
        name="tools that are refused take room",
        guards="small models",
        file="bot/agent/context/fitter.py",
        target="ContextFitter._specs_of",
        old="if self.refuses_tools(fit_request.model):",
        new="if not fit_request.model:",
        tests=(
            "tests/bot/models/test_refusals_in_bot.py::test_tools_that_are_refused_take_no_room",
        ),
    ),
    Mutant(
        name="a failed summary counts as a good one",
        guards="small models",
        file="memory/store/longterm/outcomes.py",
        target="load_outcomes",
        old="row['method'] == 'extract'",
        new="row['method'] == 'none'",
        tests=(FACTS,),
    ),
)
