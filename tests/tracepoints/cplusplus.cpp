/* The macros in C++: with exceptions, templates, lambdas, inline functions and standard strings.
 * Linked into test_cplusplus.c, which knows what must come of it. */
#include <pythia/collector.h>
#include <pythia/tracepoints.h>
#include <pythia/variable.h>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace
{

template <class Number> void values_of(Number number)
{
    PYTHIA_SPAN_AS(span, "template");
    PYTHIA_SET(span, "number", number);
}

inline void in_inline_function()
{
    PYTHIA_SPAN("inline");
    PYTHIA_ANNOTATE("note");
}

void throws()
{
    PYTHIA_SPAN_AS(span, "throws");
    PYTHIA_FAIL(span);
    throw std::runtime_error("left by an exception");
}

/* While nothing collects, these do nothing; that they compile is the test. */
void measures(double number)
{
    static long waiting;
    static const pythia_variable_source source = PYTHIA_SOURCE_LONG(&waiting);
    static pythia_label label = PYTHIA_LABEL("label");
    const pythia_observation all[] = {{&label, number}};
    PYTHIA_TIME_IT("measured");
    PYTHIA_OBSERVE("number", number);
    pythia_observe_many(all, 1);
    pythia_variable_set(
        pythia_variable_define("waiting", PYTHIA_CLASS_LEVEL, PYTHIA_BIND_PROCESS, &source), 1);
}

class Service
{
  public:
    explicit Service(std::string name) : name_(std::move(name))
    {
    }

    void handle() const
    {
        PYTHIA_SPAN_AS(span, "method");
        PYTHIA_SET(span, "string", name_);
        PYTHIA_SET(span, "view", std::string_view(name_).substr(1));
        PYTHIA_SET(span, "literal", "text");
        PYTHIA_SET(span, name_.c_str(), true);
        PYTHIA_SET(span, "enum", kind_);
        PYTHIA_SET(span, "size", name_.size());
        PYTHIA_SET(span, "float", 1.5F);
        PYTHIA_SET(span, "short", static_cast<short>(-3));
    }

  private:
    enum Kind { one = 1 };
    std::string name_;
    Kind kind_ = one;
};

} // namespace

extern "C" void run_cplusplus()
{
    PYTHIA_REQUEST("c++");
    PYTHIA_SPAN("c++");
    values_of(7);
    values_of(.5);
    measures(1);
    in_inline_function();
    Service("name").handle();
    try {
        throws();
    } catch (const std::runtime_error &) {
        PYTHIA_SPAN("caught");
    }
    const auto lambda = [](int i) {
        PYTHIA_SPAN_OF(span, PYTHIA_POINT_CLIENT, "lambda");
        PYTHIA_SET(span, "i", i);
        PYTHIA_SET_HERE("here", 2L);
    };
    lambda(1);
    pythia_scope room;
    pythia_scope *span = PYTHIA_ENTER(&room, "entered");
    PYTHIA_EXIT(span);
    pythia_scope *job = PYTHIA_BEGIN(&room, PYTHIA_POINT_PRODUCER, "job");
    pythia_context context;
    pythia_context_of(job, &context);
    {
        PYTHIA_CONTEXT(&context);
        PYTHIA_SPAN("part");
    }
    pythia_scope other;
    pythia_scope *along = PYTHIA_BEGIN_AT(&context, &other, PYTHIA_POINT_CONSUMER, "along");
    pythia_context_below(&context, along);
    PYTHIA_END(along);
    PYTHIA_END(job);
}
